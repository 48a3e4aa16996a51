// kill -9 in the middle of a long reply: between its messages, and between parts that went out while it was written.
// After a restart on the same state folder nothing is missing, nothing is out of order, and at most the one message that
// was on its way comes twice.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type Settings, type World, createWorld } from "../support/world.ts"

const task = "tell me everything"
const paragraphs = Array.from(
  { length: 12 },
  (_, index) => `Paragraph ${index}. ${"It goes on and on. ".repeat(4).trim()}`,
)
const answer = paragraphs.join("\n\n")

async function begin(context: TestContext, chatapp: Settings, delivery: Settings = {}): Promise<World> {
  const world = await createWorld(context, { config: { channels: { chatapp }, delivery } })
  world.model.script((request) => text(lastPrompt(request).includes(task) ? answer : "ok"))
  return world
}

/** The paragraphs as the person sees them, and how many of them twice. */
async function checkAnswer(world: World, mayRepeat: number): Promise<void> {
  await world.reply(/Paragraph 11\./, { timeoutMs: 30_000 })
  await world.settle()
  const shown = world.botTexts().flatMap((words) => words.match(/Paragraph \d+\./g) ?? [])
  const wanted = paragraphs.map((_, index) => `Paragraph ${index}.`)
  assert.deepEqual([...new Set(shown)], wanted)
  const messages = world.botTexts().filter((words) => words.includes("Paragraph"))
  assert.ok(messages.length - new Set(messages).size <= mayRepeat, `repeated: ${shown.join(" ")}`)
  assert.deepEqual(world.rows("select id from outbox where state != 'sent'"), [])
}

for (const [label, mayRepeat] of [
  ["outbox.sending", 0],
  ["outbox.sent", 1],
  ["outbox.recorded", 0],
] as const) {
  test(`a reply of several messages survives kill -9 at ${label}`, async (context) => {
    const world = await begin(context, { textChunkLimit: 250 })
    const gateway = await world.start({ crashAt: label })
    world.say(task)
    assert.equal(await gateway.ended, "SIGKILL")
    await world.start()
    await checkAnswer(world, mayRepeat)
  })
}

test("a reply that is sent while it is written survives kill -9 in its middle", async (context) => {
  const parts = { minChars: 50, maxChars: 300, idleMs: 60_000 }
  const world = await begin(context, { blockStreaming: true, blockStreamingCoalesce: parts }, { onUncertain: "resend" })
  world.model.script((request, n) => {
    if (!lastPrompt(request).includes(task)) return text("ok")
    // The first time as slowly as people read; it never gets to the end.
    return n === 1 ? { kind: "drip", text: answer, everyMs: 3 } : text(answer)
  })
  const gateway = await world.start()
  world.say(task)
  await world.reply(/Paragraph 1\./)
  assert.ok(!world.botTexts().some((words) => words.includes("Paragraph 11.")), "it was still being written")
  await gateway.kill("SIGKILL")
  const before = world.botTexts().length
  assert.ok(before >= 2)
  await world.start()
  await checkAnswer(world, 1)
})

test("a reply that is sent while it is written goes on in other words, when the model finds others", async (context) => {
  const parts = { minChars: 10, maxChars: 300, idleMs: 60_000 }
  const world = await begin(context, { blockStreaming: true, blockStreamingCoalesce: parts })
  const again = "First, the weather is fine.\n\nSecond, it will stay so.\n\nThird, take no umbrella."
  world.model.script((request, n) => {
    if (!lastPrompt(request).includes(task)) return text("ok")
    const first = `First, the weather is fine.\n\nThen there is ${"more to say ".repeat(40)}`
    return n === 1 ? { kind: "drip", text: first, everyMs: 3 } : text(again)
  })
  const gateway = await world.start()
  world.say(task)
  await world.reply("First, the weather is fine.")
  await world.until("the message is known to have arrived", () =>
    world.rows("select id from outbox where state = 'sent'").length > 0 ? true : undefined,
  )
  await gateway.kill("SIGKILL")
  await world.start()
  await world.reply(/umbrella/)
  await world.settle()
  assert.deepEqual(
    world.botTexts().filter((words) => words !== "ok"),
    ["First, the weather is fine.", "Second, it will stay so.", "Third, take no umbrella."],
  )
})

test("the stop button of a draft ends its turn also when the gateway was killed in between", async (context) => {
  const world = await begin(context, { draftIn: "private" })
  world.model.script((request) =>
    lastPrompt(request).includes(task) ? { kind: "drip", text: answer.repeat(20), everyMs: 5 } : text("ok"),
  )
  const gateway = await world.start()
  const { control } = world.emulator
  const drafted = control.waitForCall({ method: "sendMessageDraft" })
  const asked = world.say(task)
  await drafted
  await gateway.kill("SIGKILL")
  control.stopDraft({ userId: world.ada.id, draftId: asked.message_id })
  await world.start()
  await world.until("the turn has ended", () =>
    world.rows("select 1 from job where state = 'cancelled' and payload like ?", `%${task}%`).length > 0
      ? true
      : undefined,
  )
  await world.settle()
  const shown = world.botTexts().filter((words) => words.includes("Paragraph"))
  // Stopped before it had written a word again, or after a few.
  assert.ok(shown.length <= 1 && shown.every((words) => words.endsWith("(stopped)")), shown.join("\n"))
})
