/** How the demo shows a session: colours where a person looks, plain text elsewhere. */

const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colours ? `\u001b[${code}m${text}\u001b[0m` : String(text));
export const bold = paint(1);
export const dim = paint(2);
export const green = paint(32);
const yellow = paint(33);
const cyan = paint(36);

const WIDTH = Math.min(process.stdout.columns || 110, 130);

/** Text as one line that fits. */
function oneLine(text, room) {
	const line = String(text ?? "")
		.replace(/\s+/g, " ")
		.trim();
	return line.length <= room ? line : `${line.slice(0, Math.max(1, room - 1))}…`;
}

export function heading(text) {
	console.log(`\n${bold(text)}`);
}

function textOf(content) {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content
		.map((block) =>
			block?.type === "toolCall"
				? `[calls ${block.name}]`
				: (block?.text ?? (block?.type === "image" ? "[image]" : "")),
		)
		.filter((text) => text !== "")
		.join(" ");
}

/** Role and text of a message. */
function describeMessage(message) {
	const text =
		message.summary ?? message.output ?? message.files?.map((file) => file.path).join(", ") ?? textOf(message.content);
	return [message.role ?? "message", text];
}

const DESCRIPTIONS = {
	message: (entry) => describeMessage(entry.message ?? {}),
	model_change: (entry) => ["model", `${entry.model} (${entry.role ?? "default"})`],
	thinking_level_change: (entry) => ["thinking", entry.thinkingLevel ?? "off"],
	service_tier_change: (entry) => ["service tier", entry.serviceTier ?? "none"],
	mode_change: (entry) => ["mode", entry.mode],
	compaction: (entry) => ["compaction", `${entry.tokensBefore} tokens: ${entry.shortSummary ?? entry.summary}`],
	branch_summary: (entry) => ["branch summary", entry.summary],
	custom: (entry) => [`custom ${entry.customType}`, JSON.stringify(entry.data)],
	custom_message: (entry) => [`custom ${entry.customType}`, textOf(entry.content)],
	label: (entry) => ["label", `${entry.label ? `"${entry.label}"` : "cleared"} on ${entry.targetId}`],
	ttsr_injection: (entry) => ["rules", (entry.injectedRules ?? []).join(", ")],
	mcp_tool_selection: (entry) => ["tools", (entry.selectedToolNames ?? []).join(", ")],
	session_init: (entry) => ["session init", entry.task],
};

function describeEntry(entry) {
	return DESCRIPTIONS[entry.type]?.(entry) ?? [String(entry.type), ""];
}

/** Lines shown of a long tree. */
const TREE_LINES = 60;

/** Draws the tree. A single child continues the line of its parent, so a long talk stays narrow. */
export function showTree(session) {
	const leaf = session.getLeafId();
	const open = session
		.getTree()
		.map((node) => ({ node, prefix: "" }))
		.reverse();
	let shown = 0;
	while (open.length > 0) {
		const { node, prefix } = open.pop();
		if (++shown > TREE_LINES) continue;
		const { entry, label, children } = node;
		const [kind, text] = describeEntry(entry);
		const mark = entry.id === leaf ? green(" ← leaf") : "";
		const tag = label ? yellow(` [${label}]`) : "";
		const room = WIDTH - prefix.length - kind.length - 26;
		console.log(`${dim(prefix)}${dim(entry.id)} ${cyan(kind)} ${oneLine(text, room)}${tag}${mark}`);
		const forks = children.length > 1;
		const below = prefix.replace(/├─ $/, "│  ").replace(/└─ $/, "   ");
		for (let at = children.length - 1; at >= 0; at--) {
			open.push({
				node: children[at],
				prefix: forks ? `${below}${at === children.length - 1 ? "└─ " : "├─ "}` : below,
			});
		}
	}
	if (shown > TREE_LINES) console.log(dim(`… and ${shown - TREE_LINES} more entries`));
}

/** Messages shown of a long context, from its end. */
const CONTEXT_LINES = 14;

export function showContext(context) {
	const { messages, models, thinkingLevel, mode, serviceTier, injectedTtsrRules, selectedMCPToolNames } = context;
	const settings = { models: JSON.stringify(models), thinking: thinkingLevel, mode, tier: serviceTier ?? "default" };
	console.log(
		Object.entries(settings)
			.map(([name, value]) => `${dim(name)} ${value}`)
			.join("  "),
	);
	if (injectedTtsrRules.length > 0) console.log(`${dim("rules")} ${injectedTtsrRules.join(", ")}`);
	if (selectedMCPToolNames.length > 0) console.log(`${dim("tools")} ${selectedMCPToolNames.join(", ")}`);
	const hidden = Math.max(0, messages.length - CONTEXT_LINES);
	if (hidden > 0) console.log(dim(`… ${hidden} messages before`));
	for (const message of messages.slice(hidden)) {
		const [role, text] = describeMessage(message);
		console.log(`  ${cyan(role.padEnd(17))} ${oneLine(text, WIDTH - 21)}`);
	}
}
