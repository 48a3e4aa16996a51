// Replays recordings through the registry and checks what comes out: whole, cut at every byte or at many places, and put
// back to the provider that said it.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import type { Json } from "../../../src/kernel/index.ts"
import {
  ModelFailure,
  type FinishReason,
  type ModelReply,
  type ModelRequest,
  type Usage,
} from "../../../src/models/index.ts"
import { createTestRegistry, userRequest, type TestRegistry } from "../../support/model-server/index.ts"
import { assistantIn, everyCallIdIn, everyResultIdIn, followUp, question, tools } from "./conversation.ts"
import { readRecording, type Recording } from "./recording.ts"
import { createSeededNumbers, cutAt, startReplayServer, type ReplayServer } from "./replay-server.ts"

export interface Reading {
  text?: string
  reasoning?: string
  calls?: [name: string, input: Json][]
  finishReason?: FinishReason
  /** All counts that the provider has told; the others must be undefined. */
  usage?: Usage | Record<string, never>
  /** Name of the recording that answers the second request of the step. */
  next?: string
  /** Requests of the step; unset: one, or two when there is a next answer. */
  requests?: number
  /** The assistant's part of the next request, by the ids that its calls are sent with. */
  back?: (ids: string[]) => Json
}

export interface Failing {
  /** What a person in a chat is told. */
  chat: string
  /** What the operator is told. */
  message: RegExp
  requests: number
}

const main = { agentId: "main" }
/** Bytes. */
const cutOnce = 320
const byteByByte = 2500
const stride = 11

export interface Stage {
  server: ReplayServer
  /** The registry whose only model is the recording's. */
  registryFor(recording: Recording, options?: { attempts?: number }): TestRegistry
}

/** One server for a file of tests. Call it at the file's top. */
export function useStage(): () => Stage {
  let stage: Stage | undefined
  before(async () => {
    const server = await startReplayServer()
    stage = { server, registryFor: (recording, options = {}) => registryFor(server, recording, options) }
  })
  after(() => stage?.server.stop())
  return () => {
    assert.ok(stage)
    return stage
  }
}

function registryFor(
  server: ReplayServer,
  { settings, model }: Recording,
  options: { attempts?: number },
): TestRegistry {
  const root = settings.kind === "bedrock" || settings.kind === "azure" ? server.url : `${server.url}/v1`
  const retry = { attempts: options.attempts ?? 3, minDelayMs: 1, maxDelayMs: 2, jitter: 0 }
  return createTestRegistry(
    { providers: { them: { ...settings, baseUrl: root, apiKey: "key-of-the-tests" } }, defaultModel: `them/${model}` },
    { limits: { retry } },
  )
}

export function readingTest(stage: () => Stage, name: string, reading: Reading): void {
  const recording = readRecording(name)
  test(`${name}: ${recording.special}`, async () => {
    const { server, registryFor: open } = stage()
    const { registry } = open(recording)
    const next = reading.next === undefined ? [] : [whole(readRecording(reading.next))]
    server.answerWith(whole(recording), ...next)
    const shown = createShown()
    const reply = await registry.complete(main, ask({ ...shown.listeners }))
    checkReply(reply, reading)
    assert.equal(server.requests.length, reading.requests ?? 1 + next.length)
    if (reading.next === undefined) assert.equal(shown.text(), reply.text)

    const before = normal(reply)
    for (const pieces of splitsOf(recording.bytes)) {
      server.answerWith({ ...whole(recording), pieces }, ...next)
      const again = normal(await registry.complete(main, ask()))
      if (again !== before) assert.equal(again, before, `cut at ${pieces.map(({ length }) => length).join(", ")}`)
    }
    if (reading.next === undefined) await checkFollowUp(stage(), recording, reply, reading)
  })
}

export function failingTest(stage: () => Stage, name: string, failing: Failing): void {
  const recording = readRecording(name)
  test(`${name}: ${recording.special}`, async () => {
    const { server, registryFor: open } = stage()
    server.answerWith(whole(recording))
    const failure = await failureOf(open(recording).registry.complete(main, ask()))
    assert.match(failure.message, failing.message)
    assert.equal(failure.chatMessage, failing.chat)
    assert.equal(server.requests.length, failing.requests)

    const { registry } = open(recording, { attempts: 1 })
    for (const pieces of splitsOf(recording.bytes)) {
      server.answerWith({ ...whole(recording), pieces })
      const again = await failureOf(registry.complete(main, ask()))
      if (again.message !== failure.message)
        assert.equal(again.message, failure.message, `cut at ${pieces.map(({ length }) => length).join(", ")}`)
    }
  })
}

export async function failureOf(work: Promise<ModelReply>): Promise<ModelFailure> {
  const outcome = await work.catch((error: unknown) => error)
  assert.ok(outcome instanceof ModelFailure, `no failure of the models: ${inWords(outcome)}`)
  return outcome
}

function inWords(outcome: unknown): string {
  return outcome instanceof Error ? (outcome.stack ?? outcome.message) : JSON.stringify(outcome)
}

export function whole({ bytes, headers }: Recording): { headers: Record<string, string>; pieces: Uint8Array[] } {
  return { headers, pieces: [bytes] }
}

export function ask(more: Partial<ModelRequest> = {}): ModelRequest {
  return userRequest("", { system: "Be brief.", messages: question, tools, ...more })
}

/** What a person is shown of a step. */
export function createShown() {
  let shown = ""
  const listeners: Pick<ModelRequest, "onDelta" | "onRestart"> = {
    onDelta: ({ kind, text }) => {
      if (kind === "text") shown += text
    },
    onRestart: () => {
      shown = ""
      return ""
    },
  }
  return { listeners, text: () => shown }
}

export function checkReply(reply: ModelReply, reading: Reading): void {
  const { text, reasoning, toolCalls, finishReason, usage } = reply
  const calls = toolCalls.map(({ name, input }) => [name, input])
  const told = Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined))
  assert.deepEqual(
    { text, reasoning, calls, finishReason, usage: told },
    {
      text: reading.text ?? "",
      reasoning: reading.reasoning ?? "",
      calls: reading.calls ?? [],
      finishReason: reading.finishReason ?? (reading.calls ? "tool-calls" : "stop"),
      usage: reading.usage ?? {},
    },
  )
  assert.equal(new Set(toolCalls.map(({ id }) => id)).size, toolCalls.length, "ids are unique")
  assert.ok(toolCalls.every(({ id }) => id !== ""))
}

async function checkFollowUp(stage: Stage, recording: Recording, reply: ModelReply, reading: Reading): Promise<void> {
  const { server } = stage
  server.answerWith(whole(recording))
  // What the agent keeps has been through JSON.
  const messages = JSON.parse(JSON.stringify(followUp(reply))) as ReturnType<typeof followUp>
  await stage.registryFor(recording).registry.complete(main, ask({ messages }))
  const [request] = server.requests
  assert.ok(request)
  const ids = everyCallIdIn(request.body)
  assert.deepEqual(everyResultIdIn(request.body), ids, "each call has its result")
  // Gemini has no ids in Google's cloud.
  if (recording.settings.kind !== "vertex") assert.equal(ids.length, reply.toolCalls.length)
  if (reading.back) assert.deepEqual(assistantIn(request.body, recording.interface), reading.back(ids.map(String)))
}

/** The reply in text, with the ids of its calls told by their place: some are made anew each time. */
export function normal(reply: ModelReply): string {
  const places = new Map(reply.toolCalls.map(({ id }, index) => [id, `#${index}`]))
  return JSON.stringify(reply, (key, value: Json) => (key === "id" ? (places.get(String(value)) ?? value) : value))
}

/**
 * A cut at every byte: a short body is cut once, in as many replays as it has bytes; a longer one is cut all over, a step
 * further in each replay.
 */
function splitsOf(bytes: Uint8Array): Uint8Array[][] {
  const every = [...bytes.keys()].slice(1)
  const single = bytes.length <= byteByByte ? [cutAt(bytes, every)] : []
  if (bytes.length <= cutOnce) return [...single, ...every.map((offset) => cutAt(bytes, [offset]))]
  const shifted = Array.from({ length: stride }, (_, shift) => every.filter((offset) => offset % stride === shift))
  return [...single, ...shifted.map((offsets) => cutAt(bytes, offsets)), ...randomSplits(bytes)]
}

function randomSplits(bytes: Uint8Array): Uint8Array[][] {
  const random = createSeededNumbers(bytes.length)
  return Array.from({ length: 6 }, () => {
    const offsets = new Set(Array.from({ length: 1 + random(12) }, () => 1 + random(bytes.length - 1)))
    const sorted = [...offsets].toSorted((a, b) => a - b)
    return cutAt(bytes, sorted)
  })
}
