/** Makes the files of a case's set-up. */
import * as fs from "node:fs";
import * as path from "node:path";
import { DIR, message, SMALL, substitute } from "./language.mjs";

const TIME = "2026-03-04T09:00:01.000Z";

function hexId(number) {
	return number.toString(16).padStart(8, "0");
}

function header(id) {
	return JSON.stringify({ type: "session", version: 3, id, timestamp: "2026-03-04T09:00:00.000Z", cwd: "/srv/garden" });
}

function line(type, id, parentId, rest) {
	return `${JSON.stringify({ type, id, parentId, timestamp: TIME, ...rest })}\n`;
}

function* nestedLines({ depth }) {
	yield line("message", "a0000001", null, { message: message("user", "q") });
	const data = `${"[".repeat(depth)}7${"]".repeat(depth)}`;
	const envelope = JSON.stringify({
		type: "custom",
		id: "a0000002",
		parentId: "a0000001",
		timestamp: TIME,
		customType: "deep",
	});
	yield `${envelope.slice(0, -1)},"data":${data}}\n`;
	yield line("message", "a0000003", "a0000002", { message: message("assistant", "a") });
}

function* chainLines({ gen, entries, bytes = 20, garbageAt = [] }) {
	const body = "w".repeat(bytes);
	const garbage = new Set(garbageAt);
	for (let at = 1; at <= entries; at++) {
		if (garbage.has(at)) yield `{unreadable ${at}\n`;
		const parent = at === 1 ? null : hexId(at - 1);
		const rest =
			gen === "custom" && at < entries - 1
				? { customType: "snapshot", data: body }
				: { message: message(at % 2 ? "user" : "assistant", `${at} ${body}`) };
		yield line("message" in rest ? "message" : "custom", hexId(at), parent, rest);
	}
}

function generate(name, recipe, id = "5e55000000000001") {
	fs.mkdirSync(path.dirname(name), { recursive: true });
	const file = fs.openSync(name, "w");
	let pending = `${header(id)}\n`;
	for (const text of recipe.gen === "nested" ? nestedLines(recipe) : chainLines(recipe)) {
		pending += text;
		if (pending.length > 1 << 20) {
			fs.writeSync(file, pending);
			pending = "";
		}
	}
	fs.writeSync(file, pending);
	fs.closeSync(file);
}

function generateMany(dir, { count, entries, bytes }) {
	for (let at = 0; at < count; at++) {
		const id = `ca5e${hexId(at)}0001`;
		generate(path.join(dir, `2026-03-04T09-00-00-000Z_${id}.jsonl`), { gen: "chain", entries, bytes }, id);
	}
}

function put(name, content, caseDir) {
	if (content?.gen === "many") return generateMany(name, content);
	if (content?.gen) return generate(name, content);
	fs.mkdirSync(path.dirname(name), { recursive: true });
	if (typeof content !== "string") return fs.writeFileSync(name, Buffer.from(content.base64, "base64"));
	if (/^C\d+(-\d+)?\.jsonl$/.test(content)) return fs.copyFileSync(path.join(caseDir, content), name);
	return fs.writeFileSync(name, content);
}

/** Fills the small file system: a ballast, and copies of files of the case. */
function fillSmall({ ballastKB = 0, copy = [] }) {
	fs.writeFileSync(path.join(SMALL, "ballast"), Buffer.alloc(ballastKB * 1024, 1));
	for (const name of copy) {
		fs.mkdirSync(path.dirname(path.join(SMALL, name)), { recursive: true });
		fs.copyFileSync(path.join(DIR, name), path.join(SMALL, name));
	}
}

export function setUp(setup, caseDir) {
	for (const [name, value] of Object.entries(setup.env ?? {})) process.env[name] = substitute(value);
	for (const [name, content] of Object.entries(setup.files ?? {})) put(path.join(DIR, name), content, caseDir);
	for (const [name, target] of Object.entries(setup.links ?? {})) {
		fs.mkdirSync(path.dirname(path.join(DIR, name)), { recursive: true });
		fs.symlinkSync(substitute(target), path.join(DIR, name));
	}
	for (const [name, time] of Object.entries(setup.mtimes ?? {}))
		fs.utimesSync(path.join(DIR, name), new Date(time), new Date(time));
	for (const [name, mode] of Object.entries(setup.modes ?? {}))
		fs.chmodSync(path.join(DIR, name), Number.parseInt(mode, 8));
	if (setup.small) fillSmall(setup.small);
	if (setup.umask) process.umask(Number.parseInt(setup.umask, 8));
}
