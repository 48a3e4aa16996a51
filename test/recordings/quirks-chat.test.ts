// What servers make of Chat Completions beyond the framing: chunks of other shapes, whole bodies, and tool calls whose
// numbers, ids, names and inputs are not what the interface says.
import { deepEqual, equal, match } from "node:assert/strict"
import { describe, test } from "node:test"
import type { Json, JsonObject } from "../../src/kernel/index.ts"
import { ask, checkReply, createShown, failureOf, normal, useStage, type Reading } from "./support/replay.ts"
import type { Recording } from "./support/recording.ts"
import { createSeededNumbers, cutAt } from "./support/replay-server.ts"

const stage = useStage()
const main = { agentId: "main" }

function server(model = "some-model", settings: object = {}): Recording {
  return {
    name: "",
    provider: "",
    model,
    interface: "Chat Completions",
    special: "",
    settings: { kind: "openai-compatible", ...settings },
    headers: { "content-type": "text/event-stream" },
    bytes: Buffer.alloc(0),
  }
}

const data = (value: Json) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}) =>
  data({
    id: "chatcmpl-q1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
const done = "data: [DONE]\n\n"
const counts = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const usage = { inputTokens: 5, outputTokens: 3 }
const usageChunk = data({ id: "chatcmpl-q1", object: "chat.completion.chunk", choices: [], usage: counts })
const role = chunk({ role: "assistant", content: "" })
const hello: Reading = { text: "Hello ❄ there" }
const words = chunk({ content: "Hello " }) + chunk({ content: "❄ there" })

const call = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  input: Json | undefined,
): JsonObject => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  type: "function",
  function: { ...(name === undefined ? {} : { name }), ...(input === undefined ? {} : { arguments: input }) },
})
const calls = (...list: JsonObject[]) => chunk({ tool_calls: list })
const oslo = '{"city":"Oslo"}'
const bergen = '{"city":"Bergen"}'
const toOslo: [string, Json] = ["get_weather", { city: "Oslo" }]
const toBergen: [string, Json] = ["get_weather", { city: "Bergen" }]
const end = chunk({}, "tool_calls") + done

/** Read whole, byte by byte, and in random pieces, always alike. */
function reads(
  what: string,
  stream: string,
  reading: Reading,
  recording = server(),
  headers: Record<string, string> = {},
): void {
  test(what, async () => {
    const { server: replay, registryFor } = stage()
    const { registry } = registryFor(recording)
    const bytes = Buffer.from(stream)
    const random = createSeededNumbers(bytes.length)
    const places = () =>
      [...new Set(Array.from({ length: 8 }, () => 1 + random(bytes.length - 1)))].toSorted((a, b) => a - b)
    let first: string | undefined
    for (const offsets of [[], [...bytes.keys()].slice(1), ...Array.from({ length: 5 }, places)]) {
      replay.answerWith({ headers, pieces: cutAt(bytes, offsets) })
      const shown = createShown()
      const reply = await registry.complete(main, ask(shown.listeners))
      checkReply(reply, reading)
      equal(shown.text(), reply.text)
      equal(replay.requests.length, 1)
      first ??= normal(reply)
      equal(normal(reply), first)
    }
  })
}

const json = { "content-type": "application/json" }
const wholeReply = (message: JsonObject, finish: string | null = "stop"): JsonObject => ({
  id: "chatcmpl-q2",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
  usage: counts,
})
const wholeCalls = wholeReply(
  {
    content: null,
    tool_calls: [call(undefined, "a1", "get_weather", oslo), call(undefined, "a2", "get_weather", bergen)],
  },
  "tool_calls",
)

describe("chunks of other shapes", () => {
  const shapes: [what: string, text: string, tool: string][] = [
    [
      "counts in front",
      usageChunk + role + words + chunk({}, "stop") + done,
      usageChunk + role + calls(call(0, "a", "get_weather", oslo)) + end,
    ],
    [
      "counts in the middle",
      role + chunk({ content: "Hello " }) + usageChunk + chunk({ content: "❄ there" }) + chunk({}, "stop") + done,
      calls(call(0, "a", "get_weather", '{"city"')) +
        usageChunk +
        calls(call(0, undefined, undefined, ':"Oslo"}')) +
        end,
    ],
    [
      "counts behind the end",
      role + words + chunk({}, "stop") + usageChunk + done,
      calls(call(0, "a", "get_weather", oslo)) + chunk({}, "tool_calls") + usageChunk + done,
    ],
    [
      "counts that grow with every chunk",
      chunk({ content: "Hello " }, null, { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } }) +
        chunk({ content: "❄ there" }, "stop", { usage: counts }) +
        done,
      chunk({ tool_calls: [call(0, "a", "get_weather", oslo)] }, null, {
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
      }) +
        chunk({}, "tool_calls", { usage: counts }) +
        done,
    ],
  ]
  for (const [what, text, tool] of shapes) {
    reads(`text with ${what}`, text, { ...hello, usage })
    reads(`a call with ${what}`, tool, { calls: [toOslo], usage })
  }

  const plain: [what: string, text: string, tool: string][] = [
    [
      "chunks without choices",
      role + data({ id: "x", object: "chat.completion.chunk", choices: [] }) + words + chunk({}, "stop") + done,
      data({ choices: [] }) + calls(call(0, "a", "get_weather", oslo)) + data({ choices: [] }) + end,
    ],
    [
      "deltas with a role alone",
      role + chunk({ role: "assistant" }) + words + chunk({ role: "assistant" }) + chunk({}, "stop") + done,
      role + calls(call(0, "a", "get_weather", oslo)) + chunk({ role: "assistant" }) + end,
    ],
    [
      "the finish reason in the last piece",
      chunk({ content: "Hello " }) + chunk({ content: "❄ there" }, "stop") + done,
      chunk({ tool_calls: [call(0, "a", "get_weather", oslo)] }, "tool_calls") + done,
    ],
    ["no finish reason but [DONE]", role + words + done, role + calls(call(0, "a", "get_weather", oslo)) + done],
    [
      "an empty finish reason in each chunk",
      chunk({ content: "Hello " }, "") + chunk({ content: "❄ there" }, "") + chunk({}, "stop") + done,
      chunk({ tool_calls: [call(0, "a", "get_weather", oslo)] }, "") + end,
    ],
    [
      "message instead of delta",
      [{ content: "Hello " }, { content: "❄ there" }]
        .map((message) =>
          data({ choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: null }] }),
        )
        .join("") +
        data({ choices: [{ index: 0, message: {}, finish_reason: "stop" }] }) +
        done,
      data({
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "", tool_calls: [call(0, "a", "get_weather", oslo)] },
            finish_reason: "tool_calls",
          },
        ],
      }) + done,
    ],
    [
      "null for what is not there",
      chunk({
        role: "assistant",
        content: "Hello ❄ there",
        tool_calls: null,
        function_call: null,
        refusal: null,
        reasoning: null,
        reasoning_content: null,
      }) +
        chunk({}, "stop") +
        done,
      chunk({
        role: "assistant",
        content: null,
        tool_calls: [call(0, "a", "get_weather", oslo)],
        function_call: null,
        reasoning_content: null,
      }) + end,
    ],
    [
      "no blank lines between the events",
      (role + words + chunk({}, "stop") + done).replaceAll("\n\n", "\n"),
      (calls(call(0, "a", "get_weather", oslo)) + end).replaceAll("\n\n", "\n"),
    ],
    [
      "lines of JSON without data",
      [{ content: "Hello " }, { content: "❄ there" }]
        .map((delta) => `${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n`)
        .join("") + JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      `${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call(0, "a", "get_weather", oslo)] }, finish_reason: "tool_calls" }] })}\n`,
    ],
  ]
  for (const [what, text, tool] of plain) {
    reads(`text with ${what}`, text, hello)
    reads(`a call with ${what}`, tool, { calls: [toOslo] })
  }
})

describe("a whole body instead of a stream", () => {
  const text = wholeReply({ content: "Hello ❄ there" })
  reads("as JSON", JSON.stringify(text), { ...hello, usage }, server(), json)
  reads("with calls", JSON.stringify(wholeCalls), { calls: [toOslo, toBergen], usage }, server(), json)
  reads("over many lines", JSON.stringify(wholeCalls, null, 2), { calls: [toOslo, toBergen], usage }, server(), json)
  reads(
    "with reasoning",
    JSON.stringify(wholeReply({ content: "Hello ❄ there", reasoning_content: "Hm." })),
    { ...hello, reasoning: "Hm.", usage },
    server(),
    json,
  )
  reads("that says it is a stream", JSON.stringify(text), { ...hello, usage })
  reads("as the one event of a stream", data(text) + done, { ...hello, usage })
  reads("behind a BOM and blank lines", `\uFEFF\n\n  ${JSON.stringify(text)}\n`, { ...hello, usage }, server(), json)
  reads("in a list", JSON.stringify([text]), { ...hello, usage }, server(), json)
})

describe("tool calls", () => {
  const two = { calls: [toOslo, toBergen] }
  reads(
    "whose numbers are missing",
    calls(call(undefined, "a", "get_weather", oslo)) + calls(call(undefined, "b", "get_weather", bergen)) + end,
    two,
  )
  reads(
    "whose numbers are missing, in pieces",
    calls(call(undefined, "a", "get_weather", '{"city":')) +
      calls(call(undefined, undefined, undefined, '"Oslo"}')) +
      calls(call(undefined, "b", "get_weather", '{"city":')) +
      calls(call(undefined, undefined, undefined, '"Bergen"}')) +
      end,
    two,
  )
  reads(
    "that are all number 0",
    calls(call(0, "a", "get_weather", oslo)) + calls(call(0, "b", "get_weather", bergen)) + end,
    two,
  )
  reads(
    "that are all number 0, in pieces",
    calls(call(0, "a", "get_weather", '{"city":')) +
      calls(call(0, undefined, undefined, '"Oslo"}')) +
      calls(call(0, "b", "get_weather", '{"city":')) +
      calls(call(0, undefined, undefined, '"Bergen"}')) +
      end,
    two,
  )
  reads(
    "that are numbered from one",
    calls(call(1, "a", "get_weather", oslo)) + calls(call(2, "b", "get_weather", bergen)) + end,
    two,
  )
  reads(
    "whose pieces are mixed",
    calls(call(0, "a", "get_weather", ""), call(1, "b", "get_weather", "")) +
      calls(call(1, undefined, undefined, '{"city":')) +
      calls(call(0, undefined, undefined, oslo)) +
      calls(call(1, undefined, undefined, '"Bergen"}')) +
      end,
    two,
  )
  reads("whose ids are empty", calls(call(0, "", "get_weather", oslo), call(1, "", "get_weather", bergen)) + end, two)
  reads(
    "whose ids are missing",
    calls(call(0, undefined, "get_weather", oslo)) + calls(call(1, undefined, "get_weather", bergen)) + end,
    two,
  )
  reads(
    "whose ids are null in later pieces",
    calls({ ...call(0, "a", "get_weather", "") }) +
      calls({ index: 0, id: null, function: { name: null, arguments: oslo } }) +
      end,
    { calls: [toOslo] },
  )
  reads(
    "that share one id",
    calls(call(0, "same", "get_weather", oslo)) + calls(call(1, "same", "get_weather", bergen)) + end,
    two,
  )
  reads(
    "that share one id and one number",
    calls(call(0, "same", "get_weather", oslo)) + calls(call(0, "same", "get_weather", bergen)) + end,
    two,
  )
  reads(
    "whose ids change with every piece",
    calls(call(0, "a1", "get_weather", '{"city"')) + calls(call(0, "a2", undefined, ':"Oslo"}')) + end,
    { calls: [toOslo] },
  )
  reads(
    "whose ids come late",
    calls(call(0, undefined, "get_weather", "")) + calls(call(0, "late", undefined, oslo)) + end,
    { calls: [toOslo] },
  )
  reads(
    "whose names come in every piece",
    calls(call(0, "a", "get_weather", '{"city"')) + calls(call(0, "a", "get_weather", ':"Oslo"}')) + end,
    { calls: [toOslo] },
  )
  reads(
    "whose names come in pieces",
    calls(call(0, "a", "get_", "")) +
      calls(call(0, undefined, "weather", "")) +
      calls(call(0, undefined, undefined, oslo)) +
      end,
    { calls: [toOslo] },
  )
  reads(
    "whose names come late",
    calls(call(0, "a", undefined, "")) + calls(call(0, undefined, "get_weather", oslo)) + end,
    { calls: [toOslo] },
  )
  reads("whose inputs are objects", calls(call(0, "a", "get_weather", { city: "Oslo" })) + end, { calls: [toOslo] })
  reads("whose inputs are JSON in JSON", calls(call(0, "a", "get_weather", JSON.stringify(oslo))) + end, {
    calls: [toOslo],
  })
  reads(
    "that begin with {} and go on with the real input",
    calls(call(0, "a", "get_weather", "{}")) + calls(call(0, undefined, undefined, oslo)) + end,
    { calls: [toOslo] },
  )
  reads(
    "that begin with {} and go on in pieces",
    calls(call(0, "a", "get_weather", "{}")) +
      calls(call(0, undefined, undefined, '{"city":')) +
      calls(call(0, undefined, undefined, '"Oslo"}')) +
      end,
    { calls: [toOslo] },
  )
  reads(
    "that come whole once more at the end",
    calls(call(0, "a", "get_weather", '{"city":')) +
      calls(call(0, undefined, undefined, '"Oslo"}')) +
      calls(call(0, "a", "get_weather", oslo)) +
      end,
    { calls: [toOslo] },
  )
  reads(
    "with no input at all",
    calls(call(0, "a", "list_notes", undefined)) + calls(call(1, "b", "list_notes", "")) + end,
    {
      calls: [
        ["list_notes", {}],
        ["list_notes", {}],
      ],
    },
  )
  reads("with null as input", calls(call(0, "a", "list_notes", "null")) + end, { calls: [["list_notes", {}]] })
  reads("with input that is no JSON", calls(call(0, "a", "get_weather", '{"city": Oslo}')) + end, {
    calls: [["get_weather", '{"city": Oslo}']],
  })
  reads("with a line break inside a text of the input", calls(call(0, "a", "send_note", '{"text":"one\ntwo"}')) + end, {
    calls: [["send_note", '{"text":"one\ntwo"}']],
  })
  reads("with words behind the input", calls(call(0, "a", "get_weather", `${oslo}</tool_call>`)) + end, {
    calls: [["get_weather", `${oslo}</tool_call>`]],
  })
  reads("of tools that do not exist", calls(call(0, "a", "fly_home", "{}")) + end, { calls: [["fly_home", {}]] })
  reads("with marks of a channel in the name", calls(call(0, "a", "get_weather<|channel|>commentary", oslo)) + end, {
    calls: [toOslo],
  })
  reads("with functions. in front of the name", calls(call(0, "a", "functions.get_weather", oslo)) + end, {
    calls: [toOslo],
  })
  reads("that end with stop", calls(call(0, "a", "get_weather", oslo)) + chunk({}, "stop") + done, { calls: [toOslo] })
  reads("that end with function_call", calls(call(0, "a", "get_weather", oslo)) + chunk({}, "function_call") + done, {
    calls: [toOslo],
  })
  reads(
    "of the older interface",
    chunk({ function_call: { name: "get_weather", arguments: "" } }) +
      chunk({ function_call: { arguments: oslo } }) +
      chunk({}, "function_call") +
      done,
    { calls: [toOslo] },
  )
  reads(
    "behind text, with text behind them",
    chunk({ content: "I look. " }) + calls(call(0, "a", "get_weather", oslo)) + chunk({ content: "Wait." }) + end,
    { text: "I look. Wait.", calls: [toOslo] },
  )
  reads("announced by the finish reason alone", role + words + chunk({}, "tool_calls") + done, hello)
  reads("in an empty list", chunk({ content: "Hello ❄ there", tool_calls: [] }) + chunk({}, "stop") + done, hello)
})

describe("reasoning inside the text", () => {
  const said = (...pieces: string[]) => pieces.map((content) => chunk({ content })).join("") + chunk({}, "stop") + done
  reads("in think tags", said("<think>Hm", ".</think>", "Hello ❄ there"), { ...hello, reasoning: "Hm." })
  reads("in think tags that are cut", said("<th", "ink>Hm.<", "/think", ">\n\nHello ", "❄ there"), {
    ...hello,
    reasoning: "Hm.",
  })
  reads("in thinking tags", said("<thinking>Hm.</thinking>Hello ❄ there"), { ...hello, reasoning: "Hm." })
  reads("in empty tags", said("<think>\n\n</think>\n\n", "Hello ❄ there"), hello)
  reads("with a lone closing tag", said("Hm.", "</think>", "Hello ❄ there"), { ...hello, reasoning: "Hm." })
  reads(
    "with a lone closing tag of a model whose template opens it",
    said("Hm.", "</think>", "Hello ❄ there"),
    { ...hello, reasoning: "Hm." },
    server("qwen3-30b-a3b-thinking-2507"),
  )
  reads(
    "in front of a call",
    said("<think>Ask.</think>").replace(chunk({}, "stop") + done, "") + calls(call(0, "a", "get_weather", oslo)) + end,
    { reasoning: "Ask.", calls: [toOslo] },
  )
  reads("named in code, which stays text", said("Write `<think>` and `</think>` around it."), {
    text: "Write `<think>` and `</think>` around it.",
  })
  reads("in a field and in the text as well", chunk({ reasoning_content: "Hm." }) + said("Hello ❄ there"), {
    ...hello,
    reasoning: "Hm.",
  })
})

describe("a reply that says nothing", () => {
  for (const [what, stream] of [
    ["an empty text", role + chunk({}, "stop") + done],
    ["[DONE] alone", done],
    ["reasoning alone", chunk({ reasoning_content: "Hm." }) + chunk({}, "stop") + done],
    ["blanks alone", chunk({ content: " \n" }) + chunk({}, "stop") + done],
  ] as const) {
    test(`${what}: is asked for again`, async () => {
      const { server: replay, registryFor } = stage()
      replay.answerWith(
        { pieces: [Buffer.from(stream)] },
        { pieces: [Buffer.from(role + words + chunk({}, "stop") + done)] },
      )
      const reply = await registryFor(server()).registry.complete(main, ask())
      equal(reply.text, "Hello ❄ there")
      equal(replay.requests.length, 2)

      replay.answerWith({ pieces: [Buffer.from(stream)] })
      const failure = await failureOf(registryFor(server()).registry.complete(main, ask()))
      match(failure.chatMessage, /nothing|empty|cannot be reached/)
      deepEqual(replay.requests.length <= 3, true)
    })
  }
})
