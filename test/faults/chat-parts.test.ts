// kill -9 while something that comes in parts has come in part: the rest is joined after the restart, in one turn.
import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import type { User } from "grammy/types"
import type { Json } from "../../src/kernel/index.ts"
import { type RecordedRequest, text } from "../support/model-server/index.ts"
import { lastPrompt, messagesOf } from "../support/prompts.ts"
import { createWorld, fileContext } from "../support/world.ts"

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

const config = {
  models: { providers: { test: { models: { small: { vision: true } } } } },
  messages: { inbound: { debounceMs: 1_000 } },
  session: { dmScope: "per-peer" },
  channels: { chatapp: { allowFrom: [1001, 1002, 1003] } },
}
const world = await createWorld(fileContext(), { config })
const { control } = world.emulator
const { ada } = world
const bob = await world.addPerson({ id: 1002, firstName: "Bob" })
const cid = await world.addPerson({ id: 1003, firstName: "Cid" })

beforeEach(() => {
  world.model.requests.length = 0
  world.model.script(() => text("answer"))
})

function promptOf(person: User): RecordedRequest {
  const theirs = world.model.requests.filter((request) => lastPrompt(request).includes(`private chat ${person.id}`))
  assert.equal(theirs.length, 1, "one turn for all parts")
  return theirs[0] ?? assert.fail()
}

test("a download that kill -9 has cut is done again, and the message answered once", async () => {
  await world.start()
  control.fault({ kind: "hang", method: "getFile", times: 1 })
  const sent = control.sendMedia({ userId: ada.id, kind: "photo", data: picture })
  await control.waitForCall({ method: "getFile", phase: "started" }, { timeoutMs: 60_000 })
  await world.gateway.kill("SIGKILL")
  await world.start()
  await world.reply("answer", { after: sent })
  await world.settle()
  assert.equal(world.botTexts(ada, sent).length, 2, "the answer and the marker's")
  assert.match(lastPrompt(world.model.requests[0] ?? assert.fail()), /\[file, photo: image\/png/)
})

test("an album, a long text and a burst of short messages are completed after kill -9 in their middle", async () => {
  const whole = "0123456789".repeat(1_000)
  const date = Math.floor(Date.now() / 1000)
  const send = (part: number) => {
    const caption = part === 0 ? { caption: "our trip" } : {}
    control.sendMedia({ userId: ada.id, kind: "photo", data: picture, albumId: "7", ...caption })
    control.sendRaw({ userId: bob.id, message: { text: whole.slice(part * 4096, (part + 1) * 4096), date } })
    world.say(`part ${part}`, cid)
  }
  // The first parts are taken in by a gateway that dies at that; the others come while nobody listens.
  await world.gateway.kill("SIGTERM")
  const last = control.messages({ chatId: ada.id }).at(-1) ?? assert.fail()
  const gateway = await world.start({ crashAt: "ingest.committed" })
  send(0)
  assert.equal(await gateway.ended, "SIGKILL")
  send(1)
  send(2)
  await world.start()
  for (const person of [ada, bob, cid]) await world.reply("answer", { person, after: last })
  const album = promptOf(ada)
  assert.match(lastPrompt(album), /an album of 3 messages\]/)
  const content = messagesOf(album).at(-1)?.content as Json[]
  assert.equal(content.filter((part) => (part as { type?: string }).type === "image_url").length, 3)
  assert.match(lastPrompt(promptOf(bob)), new RegExp(`\\n${whole}$`))
  assert.match(lastPrompt(promptOf(cid)), /\npart 0\npart 1\npart 2$/)
})
