import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Message } from "grammy/types"
import { compileMentions } from "../../mentions.ts"
import { isMentioned } from "./mention.ts"

const bot = { id: "900", username: "ship_bot" }
const chat = { id: -100, type: "supergroup", title: "Crew", is_forum: true } as const
const ann = { id: 7, is_bot: false, first_name: "Ann" }
const botUser = { id: 900, is_bot: true, first_name: "Ship", username: "ship_bot" }
const words = compileMentions({ patterns: ["\\bcaptain\\b"] })

function message(fields: object): Message {
  return { message_id: 50, date: 1, chat, from: ann, ...fields } as Message
}

function mentioned(fields: object, identity: { id: string; username: string | undefined } = bot): boolean {
  return isMentioned(message(fields), identity, words)
}

describe("the bot is addressed", () => {
  const cases: [string, object][] = [
    ["by its exact username", { text: "hello @ship_bot" }],
    ["in any case and before punctuation", { text: "(@Ship_Bot), hello" }],
    ["by a command for it", { text: "/status@ship_bot now" }],
    ["in a caption", { caption: "look @ship_bot", photo: [] }],
    [
      "by a mention without username",
      { text: "Ship look", entities: [{ type: "text_mention", offset: 0, length: 4, user: botUser }] },
    ],
    [
      "by a reply to its message",
      { text: "yes", reply_to_message: { message_id: 40, date: 1, chat, from: botUser, text: "really?" } },
    ],
    ["by a pattern of its agent", { text: "aye, Captain!" }],
    [
      "by a pattern although somebody else is named too",
      { text: "captain, ask @ann", entities: [{ type: "mention", offset: 13, length: 4 }] },
    ],
  ]
  for (const [name, fields] of cases) test(name, () => assert.equal(mentioned(fields), true))
})

describe("the bot is not addressed", () => {
  const topicStart = { message_id: 33, date: 1, chat, from: botUser, forum_topic_created: { name: "x", icon_color: 1 } }
  const cases: [string, object][] = [
    ["by a longer name", { text: "hello @ship_bot2" }],
    ["by a name that only ends alike", { text: "hello @my_ship_bot" }],
    ["by a name of letters outside the alphabet that goes on", { text: "hello @ship_botø" }],
    ["by an address", { text: "write to crew@ship_bot.example" }],
    ["by its name without the sign", { text: "ship_bot" }],
    [
      "by a mention of somebody else",
      { text: "Ann look", entities: [{ type: "text_mention", offset: 0, length: 3, user: ann }] },
    ],
    [
      "by a reply to somebody else",
      { text: "yes", reply_to_message: { message_id: 40, date: 1, chat, from: ann, text: "?" } },
    ],
    [
      "by the reference to a topic that it made",
      { text: "hi", message_thread_id: 33, is_topic_message: true, reply_to_message: topicStart },
    ],
    ["by a picture without words", { photo: [] }],
  ]
  for (const [name, fields] of cases) test(name, () => assert.equal(mentioned(fields), false))

  test("by a name while its own is not known yet", () => {
    assert.equal(mentioned({ text: "@ship_bot" }, { id: "900", username: undefined }), false)
  })
})

test("a reply inside a topic to a message of the bot is a call", () => {
  const replied = { message_id: 40, date: 1, chat, from: botUser, text: "?" }
  assert.equal(
    mentioned({ text: "yes", message_thread_id: 33, is_topic_message: true, reply_to_message: replied }),
    true,
  )
})
