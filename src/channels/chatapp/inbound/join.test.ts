// Which messages are joined, over made-up conversations, and what the joined ones say.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Message } from "grammy/types"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { contentOf } from "./content/index.ts"
import { type JoinFacts, joiningOf, refOf } from "./join.ts"
import { mergeInputs } from "../../shared/merge.ts"
import { placeOf } from "./place.ts"

const options = {
  settings: { accountId: "default", boundAgent: () => undefined, directSession: () => "agent:main:main" },
  agentId: "main",
}

function message(id: number, more: object = {}): Message {
  const chat = { id: 5, type: "private", first_name: "Ada" }
  const from = { id: 5, is_bot: false, first_name: "Ada" }
  return { message_id: id, date: 1_000, chat, from, text: `m${id}`, ...more } as Message
}

/** Everything before still waits: what a store holds between two commits. */
class Waiting {
  readonly inputs = new Map<string, TurnInput>()
  readonly debounceMs: number

  constructor(debounceMs = 0) {
    this.debounceMs = debounceMs
  }

  take(said: Message) {
    const place = placeOf(said, options)
    const content = contentOf(said)
    assert.ok(content)
    const joining = joiningOf(said, place, content, this.#facts())
    this.inputs.set(refOf("default", said.chat.id, said.message_id), {
      agentId: "main",
      sessionKey: place.sessionKey,
      purpose: "chat",
      origin: "owner",
      trusted: true,
      text: content.text,
      sentAt: said.date * 1000,
      route: place.route,
      ...(joining ? { join: joining.join } : {}),
    })
    return joining
  }

  #facts(): JoinFacts {
    const keys = () => [...this.inputs.values()].map((input) => input.join?.key)
    return {
      settings: { debounceMs: this.debounceMs },
      earlier: {
        isJoinOpen: (key) => keys().includes(key),
        hadJoin: (key) => keys().includes(key),
        waitingPaste: (ref) => this.inputs.get(ref),
      },
    }
  }

  merged(): TurnInput {
    return mergeInputs([...this.inputs.values()])
  }
}

const long = "x".repeat(4_096)

describe("a long text", () => {
  test("is put together again wherever it was cut", () => {
    for (let round = 0; round < 60; round += 1) {
      const whole = Array.from({ length: 4_001 + ((round * 7_919) % 40_000) }, (_, n) => String(n % 10)).join("")
      const waiting = new Waiting()
      let at = 0
      for (let id = 10; at < whole.length; id += 1) {
        // Programs cut at 4096 characters, or at a space a little before.
        const size = 4_000 + ((round * 31 + id * 17) % 97)
        waiting.take(message(id, { text: whole.slice(at, at + size) }))
        at += size
      }
      const keys = new Set([...waiting.inputs.values()].map((input) => input.join?.key))
      assert.equal(keys.size, 1)
      assert.equal(waiting.merged().text, whole)
    }
  })

  test("ends with its short part, which nothing is waited for after", () => {
    const waiting = new Waiting()
    assert.equal(waiting.take(message(1, { text: long }))?.hold.holdMs, 1_500)
    const last = waiting.take(message(2, { text: "end" }))
    assert.deepEqual([last?.continues, last?.hold.holdMs], [true, 0])
    assert.equal(waiting.take(message(3, { text: "another thing" })), undefined)
  })

  for (const [what, more] of [
    ["a gap in the ids that many others must have filled", { message_id: 40 }],
    ["a pause", { date: 1_003 }],
    ["another sender", { from: { id: 6, is_bot: false, first_name: "Eve" } }],
    ["another thread", { message_thread_id: 4 }],
    ["a command", { text: "/stop" }],
    ["a reply", { reply_to_message: message(1) }],
    ["a forwarded message", { forward_origin: { type: "hidden_user", sender_user_name: "E", date: 1 } }],
    ["words that another bot has written", { via_bot: { id: 9, is_bot: true, first_name: "Links" } }],
    ["a picture", { text: undefined, photo: [{ file_id: "a", file_unique_id: "a", width: 1, height: 1 }] }],
  ] as const) {
    test(`is not gone on with by ${what}`, () => {
      const waiting = new Waiting()
      waiting.take(message(1, { text: long }))
      assert.notEqual(waiting.take(message(2, more))?.continues, true)
    })
  }

  test("is put together again though others have written, and taken ids, in between", () => {
    const waiting = new Waiting()
    for (const id of [1, 4, 20]) waiting.take(message(id, { text: long.replace("x", String(id)) }))
    assert.equal(waiting.take(message(21, { text: "end" }))?.continues, true)
    assert.equal(waiting.merged().text, [1, 4, 20].map((id) => long.replace("x", String(id))).join("") + "end")
  })

  test("has twelve parts at most", () => {
    const waiting = new Waiting()
    for (let id = 1; id <= 12; id += 1) waiting.take(message(id, { text: long }))
    const next = waiting.take(message(13, { text: long }))
    assert.equal(next?.continues, false)
    assert.ok(waiting.merged().text.length <= 50_000 + long.length)
  })
})

describe("a burst", () => {
  test("is one sender's in one thread, and commands are never part of one", () => {
    const waiting = new Waiting(500)
    const first = waiting.take(message(1))
    assert.deepEqual([first?.join.kind, first?.continues], ["burst", false])
    assert.deepEqual(first?.hold, { holdMs: 500, maxHoldMs: 5_000 })
    assert.equal(waiting.take(message(2))?.continues, true)
    assert.equal(waiting.take(message(3, { from: { id: 6, is_bot: false, first_name: "Eve" } }))?.continues, false)
    assert.equal(waiting.take(message(4, { message_thread_id: 9 }))?.continues, false)
    assert.equal(waiting.take(message(5, { text: "/new" })), undefined)
  })
})

describe("an album", () => {
  const part = (id: number, more: object = {}) =>
    message(id, { text: undefined, media_group_id: "g", ...photo(id), ...more })
  const photo = (id: number) => ({ photo: [{ file_id: `f${id}`, file_unique_id: `u${id}`, width: 1, height: 1 }] })

  test("is told apart by chat, and its parts stand in the order of their ids however they came", () => {
    const waiting = new Waiting()
    const keys = [3, 1, 2].map((id) => waiting.take(part(id))?.join.key)
    assert.equal(new Set(keys).size, 1)
    const next = waiting.take(part(4))
    assert.deepEqual([next?.continues, next?.isLate, next?.hold], [true, false, { holdMs: 500, maxHoldMs: 2_000 }])
    const elsewhere = waiting.take(part(9, { chat: { id: 6, type: "private", first_name: "Bob" } }))
    assert.notEqual(elsewhere?.join.key, keys[0])
  })

  test("is answered at its caption, and trusted only as far as its least trusted part", () => {
    const waiting = new Waiting()
    for (const id of [3, 1]) waiting.take(part(id))
    waiting.take(part(2, { caption: "words" }))
    const inputs = [...waiting.inputs.values()]
    const merged = mergeInputs(inputs)
    assert.equal(merged.text, "<media:photo>\n<media:photo>\nwords\n<media:photo>")
    assert.equal(merged.route?.messageId, "2")
    assert.equal(merged.trusted, true)
    const [first, ...rest] = inputs as [TurnInput, ...TurnInput[]]
    const mixed = mergeInputs([{ ...first, trusted: false }, ...rest])
    assert.deepEqual([mixed.trusted, mixed.wrap], [false, undefined])
  })
})
