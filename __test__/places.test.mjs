import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { getAgentDir, getBlobsDir, getSessionsDir, SessionManager } from "../index.mjs";
import places from "../lib/places.js";
import { assistant, conversation, HEADER, text } from "./support/lines.mjs";
import { at, freshPlaces, place, write } from "./support/place.mjs";

freshPlaces();

describe("the agent directory", () => {
	test("follows the environment at every call", () => {
		assert.equal(getAgentDir(), place.agent);
		process.env.PI_CODING_AGENT_DIR = at("other");
		assert.equal(getAgentDir(), at("other"));
		assert.equal(getSessionsDir(), at("other/sessions"));
		assert.equal(getBlobsDir(), at("other/blobs"));
		assert.equal(SessionManager.getDefaultSessionDir("/srv/garden"), at("other/sessions/--srv-garden--"));
		delete process.env.PI_CODING_AGENT_DIR;
		assert.equal(getAgentDir(), path.join(place.home, ".omp/agent"));
		process.env.PI_CONFIG_DIR = ".mine";
		assert.equal(getAgentDir(), path.join(place.home, ".mine/agent"));
		assert.equal(getSessionsDir(at("given")), at("given/sessions"));
	});

	test("is split over the XDG directories that exist, for the default one only", () => {
		process.env.XDG_DATA_HOME = at("data");
		delete process.env.PI_CODING_AGENT_DIR;
		assert.equal(getSessionsDir(), path.join(place.home, ".omp/agent/sessions"));
		fs.mkdirSync(at("data/omp"), { recursive: true });
		assert.deepEqual([getSessionsDir(), getBlobsDir()], [at("data/omp/sessions"), at("data/omp/blobs")]);
		process.env.PI_CODING_AGENT_DIR = place.agent;
		assert.equal(getSessionsDir(), path.join(place.agent, "sessions"));
	});
});

describe("the directory of a project", () => {
	const dir = (cwd) => path.basename(SessionManager.getDefaultSessionDir(cwd));

	test("is named by the path, with separators and colons as dashes", () => {
		assert.equal(dir("/srv/a:b/c d"), "--srv-a-b-c d--");
		assert.equal(dir("/srv/сад/план"), "--srv-сад-план--");
		assert.equal(dir("/"), "----");
	});

	test("is the one that exists under a newer name", () => {
		const cwd = path.join(place.home, "project");
		fs.mkdirSync(path.join(place.agent, "sessions", "-project"), { recursive: true });
		assert.equal(dir(cwd), "-project");
	});

	test("gets the newer name where others have it and it applies", () => {
		fs.mkdirSync(path.join(place.agent, "sessions", "-something"), { recursive: true });
		assert.equal(dir(path.join(place.home, "project/sub")), "-project-sub");
		assert.equal(dir(place.home), "-");
		assert.equal(dir("/srv/garden"), "--srv-garden--");
	});

	test("below the temporary directory has a newer name too", () => {
		process.env.HOME = "/nowhere";
		fs.mkdirSync(path.join(place.agent, "sessions", "-something"), { recursive: true });
		const real = fs.realpathSync(os.tmpdir());
		assert.equal(dir(path.join(real, "x/y")), "-tmp-x-y");
	});

	test("with the document's name goes on being used beside newer ones", () => {
		const cwd = path.join(place.home, "project");
		const document = `--${cwd.slice(1).replaceAll("/", "-")}--`;
		fs.mkdirSync(path.join(place.agent, "sessions", document), { recursive: true });
		fs.mkdirSync(path.join(place.agent, "sessions", "-other"), { recursive: true });
		assert.equal(dir(cwd), document);
	});

	test("is found under its hashed name", async () => {
		const hash = createHash("sha256").update("/srv/garden").digest("hex");
		write(`agent/sessions/abs-garden-${hash}/one.jsonl`, text(...conversation()));
		assert.equal((await SessionManager.list("/srv/garden")).length, 1);
		assert.equal(dir("/srv/garden"), `abs-garden-${hash}`);
	});

	test("with a very long path has a short name that tells it apart", () => {
		const long = `/srv/${"植物".repeat(60)}`;
		const names = [dir(long), dir(`${long}/a`), dir(`${long}/b`)];
		assert.equal(new Set(names).size, 3);
		assert.ok(names.every((name) => Buffer.byteLength(name) <= 255 && !name.includes("\ufffd")));
		assert.equal(dir(long), names[0]);
	});

	test("is shared by a path and what it links to", async () => {
		fs.mkdirSync(at("real"));
		fs.symlinkSync(at("real"), at("link"));
		const session = SessionManager.create(at("real"));
		session.appendMessage(assistant("x"));
		await session.close();
		assert.equal((await SessionManager.list(at("link"))).length, 1);
		assert.equal((await SessionManager.continueRecent(at("link"))).getSessionId(), session.getSessionId());
	});

	test("of another project with the same name is not continued", async () => {
		const session = SessionManager.create("/srv/a-b/c");
		session.appendMessage(assistant("x"));
		await session.close();
		const other = await SessionManager.continueRecent("/srv/a/b-c");
		assert.notEqual(other.getSessionId(), session.getSessionId());
		assert.equal(other.getSessionDir(), session.getSessionDir());
	});

	test("is never renamed or removed", async () => {
		const cwd = path.join(place.home, "project");
		const old = `agent/sessions/--${cwd.slice(1).replaceAll("/", "-")}--`;
		write(`${old}/one.jsonl`, text({ ...HEADER, cwd }, ...conversation().slice(1)));
		fs.mkdirSync(at("agent/sessions/-project"), { recursive: true });
		await SessionManager.list(cwd);
		await SessionManager.continueRecent(cwd);
		SessionManager.create(cwd);
		assert.equal(fs.existsSync(at(old, "one.jsonl")), true);
		assert.equal((await SessionManager.list(cwd)).length, 1);
	});
});

describe("the names of a project's directory", () => {
	const sessions = () => at("agent/sessions");
	const made = (name) => fs.mkdirSync(path.join(sessions(), name), { recursive: true });

	test("are the document's, the newer and the hashed ones", () => {
		const names = places.sessionDirNames("/srv/garden");
		assert.equal(names.document, "--srv-garden--");
		assert.equal(names.newer, undefined);
		assert.equal(names.others[0], "abs-garden-5ad8ff261aa887f2765e6da12f96d8605681a9c7f9e8fb76ced07c1cd4428979");
		assert.equal(places.sessionDirNames(path.join(place.home, "a/b")).newer, "-a-b");
	});

	test("of a readable part without readable characters say project", () => {
		assert.match(places.sessionDirNames("/srv/сад").others[0], /^abs-project-[0-9a-f]{64}$/);
		assert.match(places.sessionDirNames("/srv/--a  b!").others[0], /^abs-a-b-[0-9a-f]{64}$/);
	});

	test("are the same for a link and what it links to", () => {
		fs.mkdirSync(at("real/inner"), { recursive: true });
		fs.symlinkSync(at("real"), at("link"));
		const dir = (cwd) => places.defaultSessionDir(cwd, sessions(), { create: true });
		assert.equal(dir(at("link")), dir(at("real")));
		assert.equal(dir(at("link/inner")), dir(at("real/inner")));
		assert.equal(dir(at("link/not/yet")), dir(at("real/not/yet")));
		assert.equal(places.sameProject(at("link"), at("real")), true);
	});

	test("include that of the link itself where a directory has it", () => {
		fs.mkdirSync(at("real"));
		fs.symlinkSync(at("real"), at("link"));
		const name = `--${at("link").slice(1).replaceAll("/", "-")}--`;
		made(name);
		assert.equal(path.basename(places.defaultSessionDir(at("link"), sessions(), { create: false })), name);
	});

	test("prefer the newer of two directories, and both are known", () => {
		const cwd = path.join(place.home, "project");
		const document = `--${cwd.slice(1).replaceAll("/", "-")}--`;
		made(document);
		made("-project");
		const known = places.knownSessionDirs(cwd, sessions()).map((dir) => path.basename(dir));
		assert.deepEqual(known, ["-project", document]);
		assert.equal(path.basename(places.defaultSessionDir(cwd, sessions(), { create: false })), "-project");
	});

	test("that lead to one directory count once", () => {
		const cwd = path.join(place.home, "project");
		made("-project");
		fs.symlinkSync("-project", path.join(sessions(), `--${cwd.slice(1).replaceAll("/", "-")}--`));
		assert.equal(places.knownSessionDirs(cwd, sessions()).length, 1);
	});

	test("are not made by looking for them", () => {
		assert.deepEqual(places.knownSessionDirs("/srv/garden", sessions()), []);
		places.defaultSessionDir("/srv/garden", sessions(), { create: false });
		assert.equal(fs.existsSync(place.agent), false);
	});

	test("above 255 bytes end in a hash of the whole path", () => {
		const long = `/srv/${"植物".repeat(60)}`;
		const { document } = places.sessionDirNames(long);
		assert.ok(Buffer.byteLength(document) <= 255 && !document.includes("\ufffd"));
		assert.ok(document.endsWith(`-${createHash("sha256").update(long).digest("hex")}`));
		assert.notEqual(document, places.sessionDirNames(`${long}x`).document);
		fs.mkdirSync(places.defaultSessionDir(long, sessions(), { create: true }), { recursive: true });
	});

	test("of a path longer than any system takes are found without a walk up", () => {
		assert.ok(Buffer.byteLength(places.sessionDirNames("/a".repeat(1_000_000)).document) <= 255);
	});

	test("follow a change of the home directory", () => {
		process.env.HOME = "/srv";
		assert.equal(places.sessionDirNames("/srv/garden").newer, "-garden");
		process.env.HOME = "/elsewhere";
		assert.equal(places.sessionDirNames("/srv/garden").newer, undefined);
	});

	test("that two projects share keep apart only what is known to be of the other", () => {
		assert.equal(places.encodesToSameName("/srv/a-b/c", "/srv/a/b-c"), true);
		assert.equal(places.encodesToSameName("/srv/a", "/srv/b"), false);
		assert.equal(places.belongsTo("/srv/a/b-c", "/srv/a-b/c"), false);
		for (const cwd of ["", "/srv/moved", "/srv/a/b-c/", "C:\\a\\b-c", "relative"]) {
			assert.equal(places.belongsTo("/srv/a/b-c", cwd), true, cwd);
		}
	});

	test("are made for their owner only", () => {
		const dir = places.defaultSessionDir("/srv/garden", sessions(), { create: true });
		for (const made of [dir, path.dirname(dir)]) assert.equal(fs.statSync(made).mode & 0o777, 0o700);
	});

	test("that cannot be made are an error with code and path", () => {
		write("agent", "a file in the way");
		assert.throws(
			() => places.defaultSessionDir("/srv/garden", sessions(), { create: true }),
			(error) => error.code === "ENOTDIR" && typeof error.path === "string",
		);
	});
});
