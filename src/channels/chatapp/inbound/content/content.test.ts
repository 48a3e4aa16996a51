import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import type { Message } from "grammy/types"
import { contentOf } from "./content.ts"
import { forwardLabel } from "./labels.ts"
import { referenceOf as referenceTo } from "./reply.ts"

interface Recorded {
  name: string
  /** Null for service messages. */
  says: string | null
  /** Unique ids of the files to fetch. */
  files: string[]
  message: Message
}

const folder = new URL("../../../../../test/fixtures/updates/", import.meta.url)
const recorded = JSON.parse(readFileSync(new URL("messages.json", folder), "utf8")) as Recorded[]
const botId = "99"
const first = recorded[0]?.message as Message
/** All that the bot has written was asked for by its owner. */
const referenceOf = (message: Message, bot: string) =>
  referenceTo(message, bot, () => ({ origin: "owner", trusted: true }))

describe("what a message says:", () => {
  for (const { name, says, files, message } of recorded) {
    test(name, () => {
      const content = contentOf(message)
      assert.equal(content?.text ?? null, says)
      assert.deepEqual(content?.files.map((file) => file.uniqueId) ?? [], files)
      // It is part of a job: nothing may get lost on the way through JSON.
      assert.deepEqual(JSON.parse(JSON.stringify(content?.files ?? [])), content?.files ?? [])
    })
  }

  test("no message of any kind, cut short anywhere, throws", () => {
    for (const { message } of recorded) {
      for (const key of Object.keys(message) as (keyof Message)[]) {
        for (const broken of [null, {}, [], "x", 0]) {
          if (["message_id", "chat", "date", "from", "entities", "text", "caption"].includes(key)) continue
          assert.doesNotThrow(() => contentOf({ ...message, [key]: broken } as Message), `${key}`)
        }
      }
    }
  })
})

describe("what a message answers", () => {
  const bot = { id: 99, is_bot: true, first_name: "Bot" }
  const other = { id: 7, is_bot: false, first_name: "Mallory" }
  const replied = (message: object) => ({ ...first, message_id: 150, reply_to_message: undefined, ...message })
  const answering = (message: object, more: object = {}) =>
    referenceOf({ ...first, reply_to_message: replied(message), ...more } as Message, botId)

  test("is the sender's own when it was theirs or the bot's, and somebody else's otherwise", () => {
    assert.equal(answering({ text: "mine" })?.isOwn, true)
    assert.equal(answering({ text: "its", from: bot })?.isOwn, true)
    assert.equal(answering({ text: "theirs", from: other })?.isOwn, false)
    const forward_origin = { type: "hidden_user", sender_user_name: "Mallory", date: 1 }
    assert.equal(answering({ text: "sent on", forward_origin })?.isOwn, false)
    assert.equal(
      answering({ text: "in the chat's name", sender_chat: { id: -5, type: "channel", title: "c" } })?.isOwn,
      false,
    )
  })

  test("is nobody's own in a channel, where the posts of this bot bear the same name as all others", () => {
    const chat = { id: -5, type: "channel" as const, title: "News" }
    const post = { chat, from: undefined, sender_chat: chat }
    assert.equal(answering({ ...post, text: "sent for a webhook" }, post)?.isOwn, false)
  })

  test("names the message, its author inside, and the quoted fragment instead of the whole", () => {
    assert.deepEqual(
      answering({ text: "long words", from: other }, { quote: { text: "words", position: 5 } })?.context,
      {
        label: "Quoting from message 150:",
        about: { sender: "Mallory" },
        text: "words",
      },
    )
    assert.deepEqual(answering({ text: "its", from: bot })?.context, {
      label: "In reply to message 150, which you wrote:",
      text: "its",
    })
  })

  test("brings the picture along that it is about", () => {
    const photo = recorded.find(({ name }) => name.startsWith("a photo with"))?.message.photo
    const reference = answering({ text: undefined, photo, from: other })
    assert.equal(reference?.context.text, "<media:photo>")
    assert.deepEqual(
      reference?.files.map(({ uniqueId, ofReply }) => [uniqueId, ofReply]),
      [["AQADp1280", true]],
    )
  })

  test("may be in another chat, or a story", () => {
    const origin = { type: "channel", chat: { id: -100, type: "channel", title: "News" }, message_id: 5, date: 1 }
    const external = { ...first, external_reply: { origin, message_id: 5, location: { latitude: 1, longitude: 2 } } }
    assert.deepEqual(referenceOf(external as Message, botId)?.context, {
      label: "In reply to message 5 of another chat:",
      about: { sender: "News" },
      text: "📍 1.000000, 2.000000",
    })
    const story = { ...first, reply_to_story: { id: 3, chat: { id: 7, type: "private", first_name: "Ann" } } }
    assert.equal(referenceOf(story as Message, botId)?.isOwn, false)
  })

  test("is nothing where a topic's messages all refer to its first", () => {
    assert.equal(answering({ text: undefined, forum_topic_created: { name: "t", icon_color: 1 } }), undefined)
  })
})

test("a forwarded message names who wrote it first, whatever kind of author that is", () => {
  const label = (forward_origin: object) => forwardLabel({ forward_origin } as Message)
  assert.equal(
    label({ type: "user", sender_user: { id: 1, is_bot: false, first_name: "Ann", username: "ann" } }),
    "Ann (@ann)",
  )
  assert.equal(label({ type: "hidden_user", sender_user_name: "Somebody" }), "Somebody")
  assert.equal(
    label({ type: "chat", sender_chat: { id: -1, type: "group", title: "Team" }, author_signature: "Bo" }),
    "Team (Bo)",
  )
  assert.equal(label({ type: "channel", chat: { id: -2, type: "channel", username: "news" } }), "@news")
  assert.equal(label({ type: "hologram" }), "unknown")
})
