import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { getAgentDir, getBlobsDir, getSessionsDir, SessionManager } from "../index.mjs";
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
