import assert from "node:assert/strict"
import { test } from "node:test"
import type { TurnInput } from "../../agent/turn-input.ts"
import { mergeInputs } from "./merge.ts"

function input(id: number, text: string, more: Partial<TurnInput> = {}): TurnInput {
  const route = { channel: "chatapp", account: "default", chatId: "1", chatKind: "private", messageId: String(id) }
  const base = { agentId: "main", sessionKey: "s", purpose: "chat", origin: "owner", trusted: true } as const
  return { ...base, text, header: `[message ${id}]`, route: route as NonNullable<TurnInput["route"]>, ...more }
}

test("what was said in several messages is one text in the order of the messages, answered at the last", () => {
  const merged = mergeInputs([input(12, "third"), input(9, "first"), input(10, "second")])
  assert.equal(merged.text, "first\nsecond\nthird")
  assert.equal(merged.header, "[message 12, joined of 3 messages]")
  assert.equal(merged.route?.messageId, "12")
  assert.deepEqual(mergeInputs([input(9, "alone")]), input(9, "alone"))
})

test("an album is answered at the part with words, a paste has nothing between its parts", () => {
  const album = { join: { key: "k", kind: "album" } } as const
  const parts = [input(1, "[photo]", album), input(2, "[photo]\nlook", album), input(3, "[photo]", album)]
  const merged = mergeInputs(parts)
  assert.deepEqual([merged.route?.messageId, merged.header], ["2", "[message 2, an album of 3 messages]"])
  const wordless = mergeInputs([input(1, "[photo]", album), input(2, "[photo]", album)])
  assert.equal(wordless.route?.messageId, "1")
  const paste = { join: { key: "k", kind: "paste" } } as const
  assert.equal(mergeInputs([input(1, "wo", paste), input(2, "rd", paste)]).text, "word")
})

test("no more trust than the least trusted part has, and a boundary where one part needs it", () => {
  const open = { trusted: false, wrap: false }
  const foreign = { trusted: false }
  const wrapOf = (...more: Partial<TurnInput>[]) => {
    const { trusted, wrap } = mergeInputs(more.map((each, index) => input(index, "x", each)))
    return [trusted, wrap]
  }
  assert.deepEqual(wrapOf({}, {}), [true, undefined])
  assert.deepEqual(wrapOf({}, open), [false, false])
  assert.deepEqual(wrapOf(open, {}), [false, false])
  assert.deepEqual(wrapOf(open, foreign), [false, undefined])
  assert.deepEqual(wrapOf({}, foreign), [false, undefined])
})

test("everything that came with the parts comes with the whole, what came twice once", () => {
  const context = [{ label: "This answers:", text: "a" }]
  const media = (name: string) => [{ path: `/media/${name}`, mediaType: "image/png" }]
  const merged = mergeInputs([
    input(1, "a", { context, sites: ["a.example"], media: media("1"), pending: { files: ["f", "g"] } }),
    input(2, "b", { context, sites: ["a.example", "b.example"], media: media("2"), names: true, mentioned: true }),
    input(3, "c", { pending: { files: ["g", "h"] } }),
  ])
  assert.deepEqual(merged.context, context)
  assert.deepEqual(merged.sites, ["a.example", "b.example"])
  assert.deepEqual(merged.media, [...media("1"), ...media("2")])
  assert.deepEqual(merged.pending, { files: ["f", "g", "h"] })
  assert.deepEqual([merged.names, merged.mentioned], [true, true])
  const plain = mergeInputs([input(1, "a"), input(2, "b")])
  for (const key of ["context", "sites", "media", "pending", "names", "mentioned", "wrap"])
    assert.ok(!(key in plain), key)
})
