/** Writes npm/<platform>/: manifest and README of the package of each platform. `npm run packages` */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isProgram, ROOT } from "./platform.mjs";
import { MANIFEST, TARGETS } from "./targets.mjs";

const { name, version, license, engines } = MANIFEST;

function manifest(target) {
	return {
		name: target.packageName,
		version,
		description: `The addon of ${name} for ${target.platform}`,
		license,
		engines,
		os: [target.os],
		cpu: [target.cpu],
		...(target.libc === undefined ? {} : { libc: [target.libc] }),
		type: "commonjs",
		main: target.addon,
		files: [target.addon, "THIRD-PARTY-LICENSES.md"],
	};
}

function readme(target) {
	return [
		`# ${target.packageName}`,
		"",
		`The addon of ${name} for ${target.platform} (\`${target.triple}\`). Install \`${name}\`, which takes this`,
		"package in where it fits; alone it is of no use.",
		"",
	].join("\n");
}

/** Path and text of every file of the platforms' packages. */
export function packageFiles() {
	return TARGETS.flatMap((target) => {
		const dir = path.join("npm", target.platform);
		return [
			[path.join(dir, "package.json"), `${JSON.stringify(manifest(target), null, "\t")}\n`],
			[path.join(dir, "README.md"), readme(target)],
		];
	});
}

if (isProgram(import.meta.url)) {
	rmSync(path.join(ROOT, "npm"), { recursive: true, force: true });
	for (const [file, text] of packageFiles()) {
		mkdirSync(path.dirname(path.join(ROOT, file)), { recursive: true });
		writeFileSync(path.join(ROOT, file), text);
	}
}
