// Every tool of the product: what providers take of its schema, what it costs, and that each documented call is accepted.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
import { brokenToolRules } from "../../test/support/tool-rules.ts"
import { createSkillTool } from "../agent/skills.ts"
import type { Tool } from "../agent/tool.ts"
import { readToolInput } from "../agent/tool-input.ts"
import { runTool, toolSchemas } from "../agent/tool-runner.ts"
import type { BrowserCore } from "../browser/core.ts"
import { createBrowserTool } from "../browser/tool.ts"
import { createChatappTool } from "../channels/chatapp/tool/chatapp.ts"
import type { GateSettings } from "../channels/chatapp/tool/gates.ts"
import { createMessageTool } from "../channels/chatapp/tool/message.ts"
import type { Operations } from "../channels/chatapp/tool/operations.ts"
import { configSchema } from "../config/index.ts"
import { type Json, type JsonObject, type Log, systemIds } from "../kernel/index.ts"
import { createSandboxTools, settingsFor } from "../sandbox/index.ts"
import { silentLog } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { toolContext } from "../../test/support/tool-context.ts"
import { createSearchTool, createWriteTool, type Memory } from "../memory/index.ts"
import { type ScheduleDetail, type Schedules, scheduleTool } from "../schedules/index.ts"
import { toolNames, warnOfUnknownTools } from "./tools.ts"

const allOn: GateSettings = { actions: { sticker: true } as GateSettings["actions"], reactionLevel: "extensive" }
const usual: GateSettings = { actions: {} as GateSettings["actions"], reactionLevel: "minimal" }

/** Takes every call, and remembers it. */
function recorder(calls: string[]) {
  const take = (name: string) => async () => (calls.push(name), { content: [{ type: "text", text: "ok" }] })
  const quiet: Record<string, unknown> = { gate: () => undefined, secretNames: async () => [] }
  return new Proxy({}, { get: (_target, name) => quiet[String(name)] ?? take(String(name)) })
}

/** In a sandbox where each command ends well and has written "text". */
function sandboxTools(calls: string[]): Tool[] {
  const { agents } = configSchema.parse({ agents: { defaults: { sandbox: { exec: { network: true } } } } })
  return createSandboxTools({
    settings: (agentId) => settingsFor(agents, agentId),
    foreign: { makeForeign: (_asker, work) => work(), hasForeign: () => false },
    mediaFolder: temporaryFolder(),
    ids: systemIds,
    async run(_asker, { argv }) {
      calls.push(argv.join(" "))
      return { end: { kind: "ended", code: 0 }, output: Buffer.from("text"), leftOut: 0, ms: 1 }
    },
  })
}

/** That remembers nothing. */
function memoryTools(calls: string[]): Tool[] {
  const { memory: config } = configSchema.parse({ memory: { sessions: "agent" } })
  const memory = {
    search: async () => (calls.push("search"), { notes: [], messages: [] }),
    read: (_agentId, name) => (calls.push("read"), { name, text: "", version: null }),
    write: async () => (calls.push("write"), { name: "MEMORY.md", change: "written", version: "1", characters: 1 }),
  } as Partial<Memory> as Memory
  const options = { memory, config: () => config, timeText: String }
  return [createSearchTool(options), createWriteTool(options)] as Tool[]
}

/** That makes no schedule. */
function scheduleTools(calls: string[]): Tool[] {
  const detail = { id: "1a2b3c4d", when: "every 30 min", nextAt: null } as ScheduleDetail
  const schedules = {
    add: async () => (calls.push("add"), detail),
    remove: async () => (calls.push("remove"), detail),
    list: () => (calls.push("list"), []),
  } as Partial<Schedules> as Schedules
  const place = { agentId: "main", route: null, origin: "owner", trusted: true, recall: "owner" } as const
  return scheduleTool(schedules, place, () => "UTC")
}

function productTools(settings: GateSettings, calls: string[] = []): Tool[] {
  const operations = recorder(calls) as Operations
  const tools = [
    createBrowserTool({ core: () => recorder(calls) as BrowserCore }),
    createMessageTool(operations, settings),
    createChatappTool(operations, settings),
    ...scheduleTools(calls),
    ...memoryTools(calls),
    createSkillTool([{ name: "orders", description: "How to look up orders", text: "Look." }]),
    ...sandboxTools(calls),
  ]
  return tools.filter((tool) => tool !== undefined) as unknown as Tool[]
}

test("there is no tool whose name a policy could not know", () => {
  assert.deepEqual(
    productTools(allOn).map(({ name }) => name),
    [...toolNames],
  )
})

for (const settings of [allOn, usual]) {
  test(`no tool has anything that a provider refuses (${settings.reactionLevel})`, () => {
    for (const shown of toolSchemas(productTools(settings)))
      assert.deepEqual(brokenToolRules(shown as never), [], shown.name)
  })
}

test("the tools cost a model little", () => {
  const tokens = (settings: GateSettings) =>
    Object.fromEntries(
      toolSchemas(productTools(settings)).map((shown) => [shown.name, JSON.stringify(shown).length / 4]),
    )
  const {
    browser = 0,
    message = 0,
    chatapp = 0,
    skill = 0,
    memory_search = 0,
    memory_write = 0,
    schedule = 0,
    ...files
  } = tokens(allOn)
  assert.ok(browser < 1_600 && message < 560 && chatapp < 200 && skill < 80, JSON.stringify(tokens(allOn)))
  assert.ok(schedule < 350, `${schedule}`)
  assert.ok(memory_search + memory_write < 350, `${memory_search} + ${memory_write}`)
  const ofSandbox = Object.values(files).reduce((sum, each) => sum + each, 0)
  assert.ok(ofSandbox < 450, JSON.stringify(files))
})

const fields: JsonObject[] = [
  { ref: "e1", value: "text" },
  { ref: "e2", value: true as never },
  { ref: "e3", secret: "shop" },
]
/** Every parameter that the guides and the specification name, in the forms in which they name it. */
const documented: Record<string, JsonObject[]> = {
  browser: [
    ...[
      "status",
      "start",
      "stop",
      "profiles",
      "tabs",
      "snapshot",
      "screenshot",
      "console",
      "errors",
      "requests",
      "pdf",
    ].map((action) => ({ action, profile: "work", target: "host", targetId: "t1" })),
    { action: "open", url: "https://example.com" },
    { action: "open", targetUrl: "https://example.com", timeoutMs: 5000 },
    { action: "focus", targetId: "t1" },
    { action: "close" },
    { action: "navigate", url: "https://example.com", snapshot: "efficient" },
    { action: "snapshot", mode: "full", maxChars: 500, labels: true, find: "button", diff: true },
    { action: "snapshot", snapshotFormat: "aria", limit: 10 },
    { action: "snapshot", interactive: true, compact: true, depth: 3, refs: "aria", selector: "main", frame: "iframe" },
    { action: "snapshot", maxTokens: 300, timeoutMs: 900 },
    { action: "screenshot", fullPage: true, type: "jpeg" },
    { action: "screenshot", ref: "e1" },
    { action: "screenshot", element: "h1" },
    { action: "screenshot", labels: true },
    { action: "console", level: "error" },
    { action: "requests", filter: "api" },
    { action: "upload", paths: ["a.txt"], ref: "e1" },
    { action: "upload", paths: "a.txt", inputRef: "e1", timeoutMs: "5000" },
    { action: "download" },
    { action: "download", ref: "e1", path: "a.zip" },
    { action: "dialog", accept: true, promptText: "Ada" },
    { action: "dialog", accept: "false" },
    { action: "act", kind: "click", ref: 12 },
    { action: "act", request: '{"kind": "click", "ref": "12"}' },
    ...[
      { kind: "click", ref: "e1", doubleClick: true, button: "right", modifiers: ["Shift"] },
      { kind: "type", ref: 12, text: "Ada", submit: true, slowly: true },
      { kind: "press", key: "Enter" },
      { kind: "hover", ref: "e1" },
      { kind: "scrollIntoView", ref: "e1" },
      { kind: "drag", startRef: "e1", endRef: "e2" },
      { kind: "select", ref: "e1", values: ["a", "b"] },
      { kind: "select", ref: "e1", values: "a" },
      { kind: "fill", fields },
      { kind: "resize", width: 800, height: "600" },
      { kind: "wait", timeMs: 50 },
      { kind: "wait", text: "Done", textGone: "Wait", selector: "main", url: "*", loadState: "load", fn: "() => true" },
      { kind: "evaluate", fn: "() => 1" },
      { kind: "close" },
    ].map((request) => ({ action: "act", targetId: "t1", snapshot: "diff", timeoutMs: 900, request })),
  ],
  read: [{ path: "a.txt" }, { path: "a.txt", offset: 2, limit: "5" }, { path: "chart.png", send: true }],
  write: [{ path: "a/b.txt", content: "" }],
  edit: [
    { path: "a.txt", old: "text", new: "" },
    { path: "a.txt", old: "t", new: "u", all: "true" },
  ],
  list: [{}, { path: "a", depth: 3 }],
  exec: [{ command: "ls" }, { command: "ls", timeout: "5" }, { command: "ls", network: true }],
  message: [
    { action: "send", channel: "chatapp", to: "@ada", message: "hi" },
    { action: "send", to: -1001234567890, media: "https://example.com/a.png", asVoice: true, silent: true },
    { action: "send", message: "?", buttons: [[{ text: "Yes", callback_data: "y", style: "success" }]], threadId: 5 },
    { action: "send", message: "hi", replyTo: "7", quoteText: "words", to: "", media: "", threadId: "", emoji: "" },
    { action: "edit", messageId: 7, message: "two", buttons: [] },
    { action: "delete", messageId: "7", to: 5, threadId: "8" },
    { action: "react", messageId: 7, emoji: "👍" },
    { action: "react", messageId: 7, emoji: "" },
    { action: "react", messageId: 7, remove: true },
    { action: "sticker", fileId: "abc", replyTo: 7, silent: false, threadId: 8 },
    { action: "sticker-search", channel: "chatapp", query: "cat", limit: 3 },
  ],
  schedule: [
    { action: "add", text: "Tell Ada to call Bob", in: "20m" },
    { action: "add", text: "Good morning", cron: "0 7 * * *" },
    { action: "add", text: "Look", every: "30m" },
    { action: "add", text: "Look", at: "18:00" },
    { action: "list" },
    { action: "remove", id: "1a2b" },
  ],
  chatapp: [
    { action: "sendMessage", to: 5, content: "hi" },
    { action: "sendMessage", to: "@ada", content: "", mediaUrl: "https://example.com/a.png" },
    { action: "sendMessage", to: "5", content: "hi", replyToMessageId: 7, messageThreadId: "8" },
    { action: "react", chatId: 5, messageId: 7, emoji: "👍" },
    { action: "deleteMessage", chatId: "-1001234567890", messageId: "7" },
  ],
  skill: [{ name: "orders" }],
  memory_search: [
    { query: "the ferry to Lviv" },
    { query: "notes/travel" },
    ...["notes", "session", "all"].map((scope) => ({ query: "ferry", scope })),
  ],
  memory_write: [
    { text: "Ada likes tea." },
    { text: "- tea", file: "travel", section: "Drinks" },
    { text: "", file: "notes/travel.md", section: "Drinks", mode: "replace" },
  ],
}

const context = toolContext()

test("every tool that reaches something says what a tainted call may not do", () => {
  const free = productTools(allOn).filter((tool) => tool.gate === undefined)
  assert.deepEqual(
    free.map(({ name }) => name),
    // The sandbox has its own files alone, and what was remembered goes nowhere by itself.
    ["memory_search", "skill", "read", "write", "edit", "list"],
  )
})

describe("each documented call is accepted, and does something", () => {
  for (const [name, forms] of Object.entries(documented)) {
    for (const input of forms) {
      test(`${name} ${JSON.stringify(input)}`, async () => {
        const calls: string[] = []
        const tools = productTools(allOn, calls)
        const { result } = await runTool({ tools, context, ids: systemIds, log: silentLog }, { id: "1", name, input })
        assert.equal(result.isError, false, JSON.stringify(result.content))
        assert.equal(calls.length > 0, name !== "skill")
      })
    }
  }
})

describe("a field that an action cannot do without is asked for by name", () => {
  const cases: [string, JsonObject, RegExp][] = [
    ["message", { action: "send" }, /action send: message is missing \(or media\)/],
    [
      "message",
      { action: "edit", messageId: 7 },
      /action edit: message is missing\. Expected: \{"action": "edit", "message": string/,
    ],
    ["message", { action: "delete" }, /action delete: messageId is missing/],
    ["message", { action: "react", messageId: 7 }, /action react: emoji is missing \(or remove: true\)/],
    ["message", { action: "sticker", fileId: "" }, /action sticker: fileId is missing/],
    ["message", { action: "sticker-search", query: " " }, /action sticker-search: query /],
    ["message", { action: "delete", messageId: "last" }, /action delete: messageId must be an id: digits/],
    ["message", { action: "delete", messageId: null }, /action delete: messageId is missing/],
    ["message", { action: "send", message: "?", buttons: "Yes" }, /action send: buttons.0.0 must be an object/],
    ["chatapp", { action: "sendMessage", content: "hi" }, /action sendMessage: to is missing/],
    ["chatapp", { action: "react", chatId: 5 }, /action react: messageId is missing; emoji is missing/],
    ["chatapp", { action: "deleteMessage", chatId: 5 }, /action deleteMessage: messageId is missing/],
    ["browser", { action: "open" }, /open: url: is missing/],
    ["browser", { action: "focus" }, /focus: targetId: is missing/],
    ["browser", { action: "act", request: { kind: "type", ref: "e1" } }, /act type: text: is missing/],
    ["browser", { action: "act" }, /act: kind is missing; these work: click/],
    ["browser", { url: "https://example.com" }, /action is missing\. Expected: \{"action": "status" \| /],
    ["memory_write", { text: " " }, /text is empty/],
    ["memory_write", { text: "x", file: "../../etc/passwd" }, /no name of a note/],
    ["memory_write", { text: "x", mode: "replace" }, /replace needs the section/],
    ["memory_search", { query: " " }, /query is empty/],
    ["memory_search", {}, /query is missing\. Expected: \{"query": string/],
    ["skill", {}, /name is missing\. Expected: \{"name": string\}/],
  ]
  for (const [name, input, reason] of cases) {
    test(`${name} ${JSON.stringify(input)}`, async () => {
      const calls: string[] = []
      const tools = productTools(allOn, calls)
      const { result } = await runTool({ tools, context, ids: systemIds, log: silentLog }, { id: "1", name, input })
      assert.equal(result.isError, true)
      assert.match(result.content[0]?.type === "text" ? result.content[0].text : "", reason)
      assert.deepEqual(calls, [])
    })
  }
})

describe("what a schema describes is accepted by its tool", () => {
  const isId = new Set(["to", "chatId", "messageId", "replyTo", "threadId", "replyToMessageId", "messageThreadId"])
  /** Of the fields that every action of the tool needs; a schema without branches cannot say which. */
  const needed = ["message", "messageId", "emoji", "fileId", "query", "to", "content", "chatId", "name"]

  const valueOf = (schema: JsonObject, name: string): fc.Arbitrary<Json> => {
    if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as Json[]))
    if (isId.has(name)) return fc.oneof(fc.integer({ min: 1 }), fc.integer({ min: 1 }).map(String))
    if (schema["type"] === "array") return fc.array(valueOf(schema["items"] as JsonObject, name), { maxLength: 3 })
    if (schema["type"] === "object") return objectOf(schema, Object.keys(schema["properties"] as JsonObject))
    if (schema["type"] === "boolean") return fc.oneof(fc.boolean(), fc.boolean().map(String))
    if (schema["type"] === "string") return fc.string({ minLength: 1, maxLength: 50 }).map((text) => `a${text}`)
    return fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }).map(String))
  }
  const objectOf = (schema: JsonObject, always: readonly string[]): fc.Arbitrary<JsonObject> => {
    const properties = Object.entries(schema["properties"] as Record<string, JsonObject>)
    const requiredKeys = properties.map(([name]) => name).filter((name) => always.includes(name))
    const model = Object.fromEntries(properties.map(([name, each]) => [name, valueOf(each, name)]))
    return fc.record(model, { requiredKeys }) as fc.Arbitrary<JsonObject>
  }

  for (const tool of productTools(allOn)) {
    test(tool.name, () => {
      const [shown] = toolSchemas([tool])
      assert.ok(shown)
      const required = (shown.inputSchema["required"] ?? []) as string[]
      fc.assert(
        fc.property(objectOf(shown.inputSchema, [...needed, ...required]), (input) => {
          assert.deepEqual(readToolInput(tool, input).kind, "accepted", JSON.stringify(readToolInput(tool, input)))
        }),
        { numRuns: 200 },
      )
    })
  }
})

test("a tool policy that names what does not exist is told to the operator", () => {
  const config = configSchema.parse({
    agents: {
      defaults: { tools: { deny: ["Browser", "shell", "*"] } },
      list: [{ id: "main", tools: { allow: ["messages", "skill"] } }, { id: "other" }],
    },
  })
  const warnings: unknown[] = []
  warnOfUnknownTools(config, { warn: (fields: unknown) => warnings.push(fields) } as unknown as Log)
  assert.deepEqual(warnings, [
    { key: "agents.defaults.tools", unknown: ["shell"], tools: toolNames },
    { key: "agents.list[0].tools", unknown: ["messages"], tools: toolNames },
  ])
})
