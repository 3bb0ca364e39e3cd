import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, HEADER, messageLine, text, toolResult, user } from "./support/lines.mjs";
import { at, freshPlaces, place, readLines, write } from "./support/place.mjs";

freshPlaces();

const NOTICE = "\n\n[Session persistence truncated large content]";

async function stored() {
	return SessionManager.open(at("s", "one.jsonl"));
}

function sha256(bytes) {
	return createHash("sha256").update(bytes).digest("hex");
}

function blobFile(hash) {
	return path.join(place.agent, "blobs", hash);
}

describe("long strings", () => {
	test("are whole in memory and cut with a notice on disk", async () => {
		const session = await stored();
		const id = session.appendMessage(toolResult(`${"z".repeat(700_000)}THE END`));
		assert.ok(session.getEntry(id).message.content[0].text.endsWith("THE END"));
		const onDisk = readLines(session.getSessionFile()).at(-1).message.content[0].text;
		assert.equal(onDisk.length, 500_000);
		assert.ok(onDisk.endsWith(NOTICE));
		const again = await SessionManager.open(session.getSessionFile());
		assert.equal(again.getEntry(id).message.content[0].text, onDisk);
	});

	test("of exactly the limit stay whole", async () => {
		const session = await stored();
		session.appendMessage(user("x".repeat(500_000)));
		assert.equal(readLines(session.getSessionFile()).at(-1).message.content.length, 500_000);
	});

	test("are never cut inside a pair", async () => {
		const session = await stored();
		session.appendMessage(user("x".repeat(499_999 - NOTICE.length) + "\u{1f9ea}".repeat(10_000)));
		const onDisk = readLines(session.getSessionFile()).at(-1).message.content;
		assert.equal(onDisk.isWellFormed(), true);
		assert.equal(onDisk.length, 499_999);
	});

	for (const key of ["thinkingSignature", "thoughtSignature", "textSignature"]) {
		test(`that are a ${key} become empty`, async () => {
			const session = await stored();
			const block = { type: "thinking", thinking: "t", [key]: "s".repeat(600_000) };
			session.appendMessage(assistant("x", { content: [block] }));
			assert.deepEqual(readLines(session.getSessionFile()).at(-1).message.content, [{ ...block, [key]: "" }]);
			session.appendMessage(assistant("x", { content: [{ ...block, [key]: "short" }] }));
			assert.equal(readLines(session.getSessionFile()).at(-1).message.content[0][key], "short");
		});
	}

	test("in a file mention take its line count along", async () => {
		const session = await stored();
		const content = "line\n".repeat(120_000);
		session.appendMessage({ role: "fileMention", files: [{ path: "a", content, lineCount: 120_001 }], timestamp: 1 });
		const [mention] = readLines(session.getSessionFile()).at(-1).message.files;
		assert.equal(mention.lineCount, mention.content.split("\n").length);
	});

	test("that are image data elsewhere stay whole", async () => {
		const session = await stored();
		const data = Buffer.alloc(450_000, "frame").toString("base64");
		session.appendCustomEntry("frames", { frames: [{ type: "image", mimeType: "image/png", data }] });
		assert.equal(readLines(session.getSessionFile()).at(-1).data.frames[0].data, data);
	});

	test("leave the line count of other objects as it was", async () => {
		const session = await stored();
		const files = [
			{ path: "wrong on purpose", content: "a\nb", lineCount: 99 },
			{ path: "long", content: "line\n".repeat(120_000), lineCount: 1 },
		];
		session.appendMessage({ role: "fileMention", files, timestamp: 1 });
		const [short, long] = readLines(session.getSessionFile()).at(-1).message.files;
		assert.deepEqual(short, files[0]);
		assert.ok(long.lineCount > 99_000);
		assert.equal(files[1].lineCount, 1);
	});

	test("are cut alike before the file exists, in the data of extensions and at any depth", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		const long = "y".repeat(600_000);
		session.appendCustomEntry("ext", { list: [{ deep: long }] });
		session.appendMessage(assistant("answer"));
		session.appendCustomEntry("ext", { list: [{ deep: long }] });
		const [, first, , second] = readLines(session.getSessionFile());
		assert.equal(first.data.list[0].deep.length, 500_000);
		assert.deepEqual(first.data, second.data);
		assert.equal(session.getEntries()[0].data.list[0].deep, long);
	});
});

describe("transient keys", () => {
	test("are in memory only", async () => {
		const session = await stored();
		const details = { jsonlEvents: [1, 2], kept: { partialJson: "{", x: 1 } };
		const id = session.appendMessage(toolResult("x", { details }));
		assert.deepEqual(session.getEntry(id).message.details, details);
		assert.deepEqual(readLines(session.getSessionFile()).at(-1).message.details, { kept: { x: 1 } });
	});

	test("are dropped at any depth and in every kind of entry, before the file exists too", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		const data = { partialJson: 1, list: [{ jsonlEvents: [], x: { partialJson: "{" } }], partialJsonish: 2 };
		session.appendCustomEntry("ext", data);
		session.appendMessage(assistant("answer"));
		session.appendCustomEntry("ext", data);
		const [, first, , second] = readLines(session.getSessionFile());
		assert.deepEqual(first.data, { list: [{ x: {} }], partialJsonish: 2 });
		assert.deepEqual(second.data, first.data);
	});

	test("of a line in a file stay there until that entry changes", async () => {
		const line = messageLine(1, toolResult("x", { details: { jsonlEvents: [1] } }));
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, line)));
		assert.deepEqual(session.getEntries()[0].message.details, { jsonlEvents: [1] });
		await session.setSessionName("Name");
		assert.deepEqual(readLines(session.getSessionFile())[1], line);
		session.getEntries()[0].message.isError = true;
		await session.rewriteEntries();
		assert.deepEqual(readLines(session.getSessionFile())[1].message.details, {});
	});
});

describe("images", () => {
	const bytes = Buffer.from(Array.from({ length: 1200 }, (_, index) => index % 251));
	const data = bytes.toString("base64");
	const image = { type: "image", mimeType: "image/png", data };

	test("move to the blob store and come back", async () => {
		const session = await stored();
		const id = session.appendMessage(user([{ type: "text", text: "look" }, { ...image }]));
		assert.equal(session.getEntry(id).message.content[1].data, data);
		const hash = sha256(bytes);
		assert.equal(readLines(session.getSessionFile()).at(-1).message.content[1].data, `blob:sha256:${hash}`);
		assert.deepEqual(fs.readFileSync(blobFile(hash)), bytes);
		assert.equal(fs.statSync(blobFile(hash)).mode & 0o777, 0o600);
		for (const made of [path.join(place.agent, "blobs"), place.agent]) {
			assert.equal(fs.statSync(made).mode & 0o777, 0o700);
		}
		const again = await SessionManager.open(session.getSessionFile());
		assert.deepEqual(again.buildSessionContext().messages[0].content[1], image);
	});

	test("in custom messages do so too", async () => {
		const session = await stored();
		const id = session.appendCustomMessageEntry("ext", [{ ...image }], true);
		assert.ok(readLines(session.getSessionFile()).at(-1).content[0].data.startsWith("blob:sha256:"));
		const again = await SessionManager.open(session.getSessionFile());
		assert.equal(again.getEntry(id).content[0].data, data);
	});

	test("come back from lists of URLs, as they are stored from there", async () => {
		const session = await stored();
		const url = `data:image/png;base64,${data}`;
		const id = session.appendCustomEntry("frames", { image_url: [url, [url], 7] });
		assert.equal(fs.readFileSync(session.getSessionFile(), "utf8").includes(data), false);
		await session.close();
		assert.deepEqual((await stored()).getEntry(id).data, { image_url: [url, [url], 7] });
	});

	test("come back from every list called content, however deep it lies", async () => {
		const session = await stored();
		const block = { type: "image", mimeType: "image/png", data: Buffer.alloc(3000, "deep").toString("base64") };
		const held = { result: { content: [block, [block]] } };
		const id = session.appendMessage(toolResult("x", { details: held }));
		session.appendCustomEntry("frames", held);
		session.branchWithSummary(id, "back", held);
		session.appendCompaction("s", undefined, id, 1, undefined, false, held);
		session.appendMessage(user([{ type: "toolResult", content: [block] }]));
		const before = JSON.stringify(session.getEntries());
		assert.equal(fs.readFileSync(session.getSessionFile(), "utf8").includes(block.data), false);
		await session.close();
		const again = await stored();
		assert.equal(JSON.stringify(again.getEntries()), before);
		const bytes = fs.readFileSync(again.getSessionFile());
		await again.rewriteEntries();
		assert.deepEqual(fs.readFileSync(again.getSessionFile()), bytes);
	});

	test("that are small, or whose text base64 would write otherwise, stay in the line", async () => {
		const session = await stored();
		for (const text of [data.slice(0, 1020), `${data.slice(0, -1)}=`, ` ${data}`]) {
			session.appendMessage(user([{ ...image, data: text }]));
			assert.equal(readLines(session.getSessionFile()).at(-1).message.content[0].data, text);
		}
	});

	test("as data URLs are stored as their whole text", async () => {
		const session = await stored();
		const url = "data:image/png;base64,AAAA";
		const id = session.appendCustomEntry("replay", { items: [{ image_url: url }] });
		const hash = sha256(url);
		assert.equal(readLines(session.getSessionFile()).at(-1).data.items[0].image_url, `blob:sha256:${hash}`);
		assert.equal(fs.readFileSync(blobFile(hash), "utf8"), url);
		const again = await SessionManager.open(session.getSessionFile());
		assert.equal(again.getEntry(id).data.items[0].image_url, url);
	});

	test("a session rewritten after reading keeps its references", async () => {
		const session = await stored();
		session.appendMessage(user([{ ...image }]));
		const again = await SessionManager.open(session.getSessionFile());
		again.buildSessionContext();
		const before = readLines(session.getSessionFile()).at(-1);
		await again.setSessionName("Name");
		assert.deepEqual(readLines(session.getSessionFile()).at(-1), before);
	});

	for (const reference of [`blob:sha256:${"0".repeat(64)}`, "blob:sha256:../../secret", "blob:sha256:"]) {
		test(`a reference without a blob, ${reference.slice(0, 26)}, is shown as text and kept in the file`, async () => {
			fs.mkdirSync(path.join(place.agent, "blobs"), { recursive: true });
			fs.writeFileSync(at("secret"), "secret");
			const message = user([
				{ type: "text", text: "look" },
				{ type: "image", mimeType: "image/png", data: reference },
			]);
			const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, messageLine(1, message))));
			const [entry] = session.getEntries();
			const [look, missing] = entry.message.content;
			assert.deepEqual([look.text, missing.type, missing.text.includes(reference)], ["look", "text", true]);
			look.text = "looked";
			await session.rewriteEntries();
			assert.deepEqual(readLines(session.getSessionFile())[1].message.content, [
				{ type: "text", text: "looked" },
				{ type: "image", mimeType: "image/png", data: reference },
			]);
			entry.message.content.pop();
			await session.rewriteEntries();
			assert.equal(readLines(session.getSessionFile())[1].message.content.length, 1);
		});
	}

	test("a data URL whose blob is missing stays a reference", async () => {
		const data = { image_url: `blob:sha256:${"1".repeat(64)}` };
		const line = { type: "custom", id: "00000001", parentId: null, timestamp: HEADER.timestamp, customType: "x", data };
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, line)));
		assert.deepEqual(session.getEntry("00000001").data, data);
	});

	test("putBlob stores bytes under their hash", async () => {
		const session = SessionManager.inMemory("/srv");
		const result = await session.putBlob(Buffer.from("abc"));
		assert.equal(result.hash, sha256("abc"));
		assert.equal(result.ref, `blob:sha256:${sha256("abc")}`);
		assert.equal(fs.readFileSync(result.path, "utf8"), "abc");
	});

	test("appended before the file exists move there too, each once", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user([{ ...image }, { ...image }]));
		session.appendMessage(assistant("answer"));
		const reference = `blob:sha256:${sha256(bytes)}`;
		assert.deepEqual(
			readLines(session.getSessionFile())[1].message.content.map((block) => block.data),
			[reference, reference],
		);
		assert.deepEqual(fs.readdirSync(path.join(place.agent, "blobs")), [sha256(bytes)]);
	});

	test("outside of content stay whole", async () => {
		const session = await stored();
		session.appendCustomEntry("ext", { images: [{ ...image }] });
		assert.deepEqual(readLines(session.getSessionFile()).at(-1).data.images, [image]);
	});
});

describe("replay data of a provider", () => {
	const message = assistant("x", {
		content: [
			{ type: "thinking", thinking: "t", thinkingSignature: "sig" },
			{ type: "text", text: "x" },
		],
		providerPayload: { type: "openaiResponsesHistory", provider: "openai", items: [] },
	});

	test("goes from memory on load and stays in the file", async () => {
		const file = write("s/one.jsonl", text(HEADER, messageLine(1, message)));
		const session = await SessionManager.open(file);
		const seen = session.getEntry("00000001").message;
		assert.equal(seen.providerPayload, undefined);
		assert.deepEqual(seen.content[0], { type: "thinking", thinking: "t" });
		await session.setSessionName("Name");
		assert.deepEqual(readLines(file)[1].message, message);
	});

	test("is taken out of live messages on request", () => {
		const session = SessionManager.inMemory("/srv");
		const given = structuredClone(message);
		const id = session.appendMessage(given);
		assert.equal(session.sanitizeLoadedOpenAIResponsesReplayMetadata(), true);
		assert.equal(session.getEntry(id).message.providerPayload, undefined);
		assert.deepEqual(given, message);
		assert.equal(session.sanitizeLoadedOpenAIResponsesReplayMetadata(), false);
	});
});
