// What servers and proxies make of a stream of events, for each interface that has them: however a good stream is framed,
// it reads as it did, and a stream that is none fails in words and is asked for again.
import assert from "node:assert/strict"
import { test } from "node:test"
import { readRecording, type Recording } from "./support/recording.ts"
import { ask, createShown, failureOf, normal, useStage, whole } from "./support/replay.ts"
import { createSeededNumbers, cutAt, type Answer } from "./support/replay-server.ts"

const stage = useStage()
const main = { agentId: "main" }

const recordings = [
  "chat/openai-text",
  "chat/openai-calls",
  "messages/anthropic-text",
  "messages/anthropic-thinking-call",
  "responses/openai-text",
  "responses/openai-reasoning-call",
  "gemini/text",
  "gemini/call",
].map(readRecording)

interface Framing {
  what: string
  frame(stream: string): string
  headers?: Record<string, string>
}

/** The stream's events, each without the blank line behind it. */
const eventsOf = (stream: string) => stream.split("\n\n").filter((event) => event !== "")
const between = (stream: string, extra: string) =>
  eventsOf(stream)
    .map((event) => `${extra}${event}\n\n`)
    .join("")

const framings: Framing[] = [
  { what: "CRLF", frame: (stream) => stream.replaceAll("\n", "\r\n") },
  { what: "CR alone", frame: (stream) => stream.replaceAll("\n", "\r") },
  { what: "a BOM in front", frame: (stream) => `\uFEFF${stream}` },
  { what: "comments between the events", frame: (stream) => between(stream, ": still there\n\n:\n\n") },
  { what: "a comment inside each event", frame: (stream) => between(stream, ": hm\n") },
  { what: "blank lines between the events", frame: (stream) => between(stream, "\n\n\n") },
  { what: "ids and retry times", frame: (stream) => between(stream, "id: 17\nretry: 3000\n") },
  { what: "pings with an empty object", frame: (stream) => between(stream, "event: ping\ndata: {}\n\n") },
  { what: "pings that name their type", frame: (stream) => between(stream, 'event: ping\ndata: {"type": "ping"}\n\n') },
  { what: "events without data", frame: (stream) => between(stream, "event: keepalive\n\n") },
  { what: "events with empty data", frame: (stream) => between(stream, "data:\n\n") },
  {
    what: "no blank behind the colon",
    frame: (stream) => stream.replaceAll("data: ", "data:").replaceAll("event: ", "event:"),
  },
  { what: "no event lines", frame: (stream) => stream.replaceAll(/^event: .*\n/gm, "") },
  { what: "no last newline", frame: (stream) => stream.trimEnd() },
  { what: "no [DONE]", frame: (stream) => stream.replace("data: [DONE]\n\n", "") },
  { what: "[DONE] at the end", frame: (stream) => `${stream}data: [DONE]\n\n` },
  { what: "JSON over several data lines", frame: (stream) => stream.replaceAll("data: {", "data: {\ndata: ") },
  { what: "application/json as its type", frame: (stream) => stream, headers: { "content-type": "application/json" } },
  {
    what: "text/plain as its type",
    frame: (stream) => stream,
    headers: { "content-type": "text/plain; charset=utf-8" },
  },
  { what: "no type at all", frame: (stream) => stream, headers: { "content-type": "" } },
  { what: "bytes as its type", frame: (stream) => stream, headers: { "content-type": "application/octet-stream" } },
]

/** As it came, byte by byte where that is quick, and at random places. */
function cuts(bytes: Buffer): Uint8Array[][] {
  const random = createSeededNumbers(bytes.length)
  const places = () =>
    [...new Set(Array.from({ length: 15 }, () => 1 + random(bytes.length - 1)))].toSorted((a, b) => a - b)
  const single = bytes.length <= 2500 ? [cutAt(bytes, [...bytes.keys()].slice(1))] : []
  return [[bytes], ...single, cutAt(bytes, places())]
}

for (const { what, frame, headers } of framings) {
  for (const recording of recordings) {
    test(`${recording.name} reads the same with ${what}`, async () => {
      const { server, registryFor } = stage()
      const { registry } = registryFor(recording, { attempts: 1 })
      server.answerWith(whole(recording))
      const expected = normal(await registry.complete(main, ask()))
      const bytes = Buffer.from(frame(recording.bytes.toString().replaceAll("\r\n", "\n")))
      for (const pieces of cuts(bytes)) {
        server.answerWith({ headers: { ...recording.headers, ...headers }, pieces })
        assert.equal(normal(await registry.complete(main, ask())), expected)
        assert.equal(server.requests.length, 1)
      }
    })
  }
}

/** An error as each interface reports one in its stream. */
const errors: Record<Recording["interface"], string> = {
  "Chat Completions": 'data: {"error":{"message":"The server is overloaded","type":"overloaded_error","code":529}}\n\n',
  Messages:
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"The server is overloaded"}}\n\n',
  Responses:
    'event: error\ndata: {"type":"error","sequence_number":1,"error":{"type":"server_error","code":"server_is_overloaded","message":"The server is overloaded","param":null}}\n\n',
  Gemini: 'data: {"error":{"code":503,"message":"The server is overloaded","status":"UNAVAILABLE"}}\r\n\r\n',
  Converse: "",
}

interface Fault {
  what: string
  answer(recording: Recording): Answer
  message: RegExp
  chat: string
}

/** Ends behind an event, or inside one. */
function half({ bytes, headers }: Recording, where: "behind" | "inside"): Answer & { pieces: Uint8Array[] } {
  const inside = Math.floor(bytes.length * 0.6)
  const behind = Math.max(bytes.lastIndexOf("\n\n", inside), bytes.lastIndexOf("\n\r\n", inside) + 1) + 2
  return { headers: { ...headers }, pieces: [bytes.subarray(0, where === "behind" ? behind : inside)] }
}

const body = (text: string, headers: Record<string, string> = {}): Answer => ({ headers, pieces: [Buffer.from(text)] })
const overloaded = { message: /The server is overloaded/, chat: "The model service is overloaded just now." }
const cut = { message: /before the reply was complete/, chat: "The model service cannot be reached just now." }

const faults: Fault[] = [
  { what: "an error in front of everything", answer: (recording) => body(errors[recording.interface]), ...overloaded },
  {
    what: "an error behind some text",
    answer: (recording) => ({
      pieces: [...half(recording, "behind").pieces, Buffer.from(errors[recording.interface])],
    }),
    ...overloaded,
  },
  {
    what: "an error as JSON with status 200",
    answer: () =>
      body('{"error":{"message":"The server is overloaded","type":"overloaded_error"}}', {
        "content-type": "application/json",
      }),
    ...overloaded,
  },
  { what: "an empty stream", answer: () => body(""), message: /./, chat: cut.chat },
  { what: "comments alone", answer: () => body(": still there\n\n: still there\n\n"), message: /./, chat: cut.chat },
  { what: "a stream that ends behind an event", answer: (recording) => half(recording, "behind"), ...cut },
  { what: "a stream that ends inside an event", answer: (recording) => half(recording, "inside"), ...cut },
  {
    what: "a connection that breaks",
    answer: (recording) => ({ ...half(recording, "inside"), breaks: true }),
    message: /./,
    chat: cut.chat,
  },
]

for (const { what, answer, message, chat } of faults) {
  for (const recording of recordings) {
    test(`${recording.name}: ${what} is asked for again, and told if it stays so`, async () => {
      const { server, registryFor } = stage()
      const { registry } = registryFor(recording)
      server.answerWith(answer(recording))
      const failure = await failureOf(registry.complete(main, ask()))
      assert.equal(failure.chatMessage, chat)
      assert.match(failure.message, message)
      assert.equal(server.requests.length, 3)

      server.answerWith(whole(recording))
      const expected = normal(await registry.complete(main, ask()))
      const shown = createShown()
      server.answerWith(answer(recording), whole(recording))
      const reply = await registry.complete(main, ask(shown.listeners))
      assert.equal(normal(reply), expected)
      assert.equal(shown.text(), reply.text, "what the failed try has shown is taken back")
    })
  }
}

for (const recording of recordings) {
  test(`${recording.name}: a page instead of a reply is told as one and not asked for again`, async () => {
    const { server, registryFor } = stage()
    const page = "<!doctype html>\n<html><head><title>Sign in</title></head><body>Welcome</body></html>\n"
    for (const type of ["text/html", "text/event-stream"]) {
      server.answerWith(body(page, { "content-type": type }))
      const failure = await failureOf(registryFor(recording).registry.complete(main, ask()))
      assert.match(failure.message, /page|text\/html/)
      assert.match(failure.hint ?? "", /baseUrl/)
      assert.doesNotMatch(failure.chatMessage, /html|http/)
      assert.equal(server.requests.length, 1)
    }
  })
}
