// Several steps of one conversation with the same provider: what was sent before is sent again unchanged, so that caches
// of prompts hold, each call keeps an id of its own, and a model of another provider can go on.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Json, JsonObject } from "../../src/kernel/index.ts"
import type { ModelMessage, ModelReply } from "../../src/models/index.ts"
import { everyCallIdIn, everyResultIdIn, followUp, messagesIn, question } from "./support/conversation.ts"
import { readRecording } from "./support/recording.ts"
import { ask, useStage, whole } from "./support/replay.ts"

const stage = useStage()
const main = { agentId: "main" }

const recordings = [
  "chat/openai-calls",
  "chat/gemini-calls",
  "chat/mistral-thinking-call",
  "chat/groq-reasoning-call",
  "chat/deepseek-call",
  "chat/openrouter-claude",
  "chat/kimi-calls",
  "chat/minimax-tags",
  "chat/vllm-call",
  "chat/llamacpp-call",
  "chat/ollama-calls-no-ids",
  "messages/anthropic-interleaved",
  "messages/proxy-kimi",
  "responses/openai-reasoning-call",
  "responses/openai-phase-call",
  "gemini/parallel-calls",
  "gemini/vertex-call",
  "converse/thinking-call",
].map(readRecording)

for (const recording of recordings) {
  test(`${recording.name}: four steps with the same reply`, async () => {
    const { server, registryFor } = stage()
    const { registry } = registryFor(recording)
    let messages: ModelMessage[] = [...question]
    const bodies: JsonObject[] = []
    for (let step = 0; step < 4; step += 1) {
      server.answerWith(whole(recording))
      const reply = await registry.complete(main, ask({ messages }))
      assert.equal(server.requests.length, 1)
      bodies.push(server.requests[0]?.body ?? {})
      // What the agent keeps has been through JSON.
      messages = JSON.parse(JSON.stringify([...messages, ...followUp(reply).slice(1)])) as ModelMessage[]
    }
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1]
      if (before) assert.deepEqual(messagesIn(body).slice(0, messagesIn(before).length), messagesIn(before))
      const ids = everyCallIdIn(body)
      assert.equal(new Set(ids).size, ids.length, "ids of calls are unique")
      assert.deepEqual(everyResultIdIn(body), ids)
    }
  })
}

/** What one provider wants back, and no other must see. */
function ownWords({ replay, reasoning }: ModelReply): string[] {
  const metas = (replay?.parts ?? []).map(({ meta }) => meta ?? {})
  return [reasoning, ...metas.flatMap(textsIn)].filter((words) => /[^a-z_]/i.test(words))
}

function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

for (const recording of recordings) {
  test(`${recording.name}: another provider goes on without what was meant for this one`, async () => {
    const { server, registryFor } = stage()
    server.answerWith(whole(recording))
    const reply = await registryFor(recording).registry.complete(main, ask())
    const messages = followUp(reply)
    for (const other of recordings) {
      if (other.settings.kind === recording.settings.kind) continue
      server.answerWith(whole(other))
      await registryFor(other).registry.complete(main, ask({ messages }))
      const body = server.requests[0]?.body ?? {}
      const sent = JSON.stringify(body)
      for (const words of ownWords(reply)) assert.ok(!sent.includes(JSON.stringify(words).slice(1, -1)), words)
      assert.deepEqual(everyResultIdIn(body), everyCallIdIn(body))
      if (other.settings.kind !== "vertex") assert.equal(everyCallIdIn(body).length, reply.toolCalls.length)
    }
  })
}
