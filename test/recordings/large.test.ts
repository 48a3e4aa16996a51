// Replies of a size that models really give: 10,000 pieces of text, and 300 kB of input for one tool, whole and in 10,000
// pieces. Nothing is measured here; what grows with the square of a reply would not end in the time of a test.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { JsonObject } from "../../src/kernel/index.ts"
import { readRecording, toFrames, type Recording } from "./support/recording.ts"
import { ask, createShown, useStage } from "./support/replay.ts"

const stage = useStage()
const main = { agentId: "main" }
const count = 10_000

/** How an interface says a text in pieces, and one call whose input comes in pieces. */
interface Speech {
  recording: Recording
  text(pieces: readonly string[]): string | Buffer
  call(pieces: readonly string[]): string | Buffer
}

const data = (value: JsonObject) => `data: ${JSON.stringify(value)}\n\n`
const event = (value: JsonObject) => `event: ${String(value["type"])}\n${data(value)}`
const join = (pieces: readonly string[], each: (piece: string) => string) => pieces.map(each).join("")

const chunk = (delta: JsonObject, finish: string | null = null) =>
  data({ id: "chatcmpl-l", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })
const chat: Speech = {
  recording: readRecording("chat/openai-text"),
  text: (pieces) => join(pieces, (content) => chunk({ content })) + chunk({}, "stop"),
  call: (pieces) =>
    chunk({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "send_note", arguments: "" } }] }) +
    join(pieces, (text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })) +
    chunk({}, "tool_calls"),
}

const usage = { input_tokens: 5, output_tokens: 7 }
const inMessage = (reason: string, content: string) =>
  event({
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", content: [], model: "m", stop_reason: null, usage },
  }) +
  content +
  event({ type: "content_block_stop", index: 0 }) +
  event({ type: "message_delta", delta: { stop_reason: reason }, usage }) +
  event({ type: "message_stop" })
const delta = (value: JsonObject) => event({ type: "content_block_delta", index: 0, delta: value })
const begin = (block: JsonObject) => event({ type: "content_block_start", index: 0, content_block: block })
const messages: Speech = {
  recording: readRecording("messages/anthropic-text"),
  text: (pieces) =>
    inMessage(
      "end_turn",
      begin({ type: "text", text: "" }) + join(pieces, (text) => delta({ type: "text_delta", text })),
    ),
  call: (pieces) =>
    inMessage(
      "tool_use",
      begin({ type: "tool_use", id: "a", name: "send_note", input: {} }) +
        join(pieces, (text) => delta({ type: "input_json_delta", partial_json: text })),
    ),
}

const response = { id: "r", object: "response", created_at: 1, model: "m", status: "in_progress", output: [] }
const inResponse = (content: string) =>
  event({ type: "response.created", response }) +
  content +
  event({ type: "response.completed", response: { ...response, status: "completed", usage } })
const item = (type: string, value: JsonObject) =>
  event({ type: `response.output_item.${type}`, output_index: 0, item: value })
const responses: Speech = {
  recording: readRecording("responses/openai-text"),
  text: (pieces) => {
    const said = { id: "i", type: "message", role: "assistant", content: [] }
    const words = join(pieces, (text) =>
      event({ type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: text }),
    )
    return inResponse(item("added", said) + words + item("done", said))
  },
  call: (pieces) => {
    const asked = { id: "i", type: "function_call", call_id: "a", name: "send_note" }
    const input = join(pieces, (text) =>
      event({ type: "response.function_call_arguments.delta", item_id: "i", output_index: 0, delta: text }),
    )
    return inResponse(
      item("added", { ...asked, arguments: "" }) +
        input +
        item("done", { ...asked, arguments: pieces.join(""), status: "completed" }),
    )
  },
}

const candidate = (part: JsonObject, finish?: string) =>
  data({
    candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...(finish ? { finishReason: finish } : {}) }],
  })
const gemini: Speech = {
  recording: readRecording("gemini/text"),
  text: (pieces) => join(pieces, (text) => candidate({ text })) + candidate({ text: "" }, "STOP"),
  // A call comes whole here.
  call: (pieces) =>
    candidate({ functionCall: { name: "send_note", args: JSON.parse(pieces.join("")) as JsonObject } }) +
    candidate({ text: "" }, "STOP"),
}

const line = (name: string, payload: JsonObject) => `${name} ${JSON.stringify(payload)}\n`
const blocks = (content: string, reason: string) =>
  toFrames(
    `${content}${line("contentBlockStop", { contentBlockIndex: 0 })}${line("messageStop", { stopReason: reason })}${line("metadata", { usage: { inputTokens: 5, outputTokens: 7 } })}`,
  )
const converse: Speech = {
  recording: readRecording("converse/text"),
  text: (pieces) =>
    blocks(
      join(pieces, (text) => line("contentBlockDelta", { contentBlockIndex: 0, delta: { text } })),
      "end_turn",
    ),
  call: (pieces) =>
    blocks(
      line("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { name: "send_note", toolUseId: "a" } } }) +
        join(pieces, (input) => line("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input } } })),
      "tool_use",
    ),
}

/** Blocks of the size that networks deliver. */
function blocksOf(body: string | Buffer): Uint8Array[] {
  const bytes = Buffer.from(body)
  const size = 16_384
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

const words = Array.from({ length: count }, (_, index) => `word ${index} ❄ `)
const note = 'A line of some length, with a "quotation" and a snowflake ❄.\n'.repeat(5200)
const input = JSON.stringify({ text: note })
const step = Math.ceil(input.length / count)
const pieces = Array.from({ length: Math.ceil(input.length / step) }, (_, index) =>
  input.slice(index * step, (index + 1) * step),
)

for (const speech of [chat, messages, responses, gemini, converse]) {
  const { recording } = speech

  test(`${recording.interface}: 10,000 pieces of text`, async () => {
    const { server, registryFor } = stage()
    server.answerWith({ headers: recording.headers, pieces: blocksOf(speech.text(words)) })
    const shown = createShown()
    const reply = await registryFor(recording).registry.complete(main, ask(shown.listeners))
    assert.equal(reply.text, words.join(""))
    assert.equal(shown.text(), reply.text)
  })

  const ways: [what: string, pieces: string[]][] = [["in one piece", [input]]]
  if (recording.interface !== "Gemini") ways.push(["in 10,000 pieces", pieces])
  for (const [what, cut] of ways) {
    test(`${recording.interface}: 300 kB of input for a tool ${what}`, async () => {
      assert.ok(input.length > 300_000)
      const { server, registryFor } = stage()
      server.answerWith({ headers: recording.headers, pieces: blocksOf(speech.call(cut)) })
      const reply = await registryFor(recording).registry.complete(main, ask())
      assert.deepEqual(
        reply.toolCalls.map(({ name, input: read }) => [name, read]),
        [["send_note", { text: note }]],
      )
      assert.equal(reply.finishReason, "tool-calls")
    })
  }
}
