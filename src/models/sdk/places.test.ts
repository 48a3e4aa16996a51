import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { assertGrowsInLine } from "../../../test/support/growth.ts"
import { cachePlaces } from "./cache-marks.ts"
import { lowestLevel, nearestLevel } from "../levels.ts"
import { readEvents, type ServerEvent } from "./server-events.ts"
import { overlay } from "../providers/overlay.ts"

describe("places for the cache", () => {
  const names = { u: "user", a: "assistant", t: "tool" } as const
  const placesOf = (roles: string) => cachePlaces([...roles].map((role) => names[role as "u" | "a" | "t"]))

  test("are the turn's beginning, the message before the last reply, and the end", () => {
    assert.deepEqual(placesOf("u"), [0])
    assert.deepEqual(placesOf("uau"), [0, 2])
    assert.deepEqual(placesOf("uat"), [0, 2])
    assert.deepEqual(placesOf("uatat"), [0, 2, 4])
    assert.deepEqual(placesOf("uatauatatat"), [4, 8, 10])
    assert.deepEqual(placesOf(""), [])
  })

  test("take pictures and words behind tool results for a part of the loop", () => {
    assert.deepEqual(placesOf("uatuatuu"), [0, 3, 7])
  })

  test("never number more than three, and the end of each request is marked in the next", () => {
    let roles = "u"
    for (let step = 0; step < 30; step += 1) {
      const before = roles.length - 1
      roles += step % 7 === 6 ? "au" : "at"
      const places = placesOf(roles)
      assert.ok(places.length <= 3)
      assert.ok(places.includes(before), `${roles}: ${places.join(" ")}`)
    }
  })
})

describe("a level of thinking", () => {
  test("becomes the nearest that the model takes, of two the lower", () => {
    assert.equal(nearestLevel("medium", ["low", "high"]), "low")
    assert.equal(nearestLevel("minimal", ["medium", "high"]), "medium")
    assert.equal(nearestLevel("high", ["high", "low", "minimal"]), "high")
    assert.equal(lowestLevel(["high", "low"]), "low")
    assert.equal(lowestLevel([]), undefined)
  })
})

describe("further fields of the configuration", () => {
  test("join objects, replace all else, and reach no prototype", () => {
    const over = JSON.parse('{"a":{"c":2},"list":[3],"__proto__":{"x":1}}') as Record<string, never>
    const joined = overlay({ a: { b: 1, c: 1 }, list: [1, 2] }, over)
    assert.deepEqual(joined.a, { b: 1, c: 2 })
    assert.deepEqual(joined.list, [3])
    assert.equal(({} as { x?: number }).x, undefined)
  })
})

describe("server-sent events", () => {
  async function read(text: string, size: number): Promise<ServerEvent[]> {
    const bytes = new TextEncoder().encode(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, i * size + size),
    )
    const events: ServerEvent[] = []
    for await (const event of readEvents(ReadableStream.from(pieces))) events.push(event)
    return events
  }
  const event = (data: string, name?: string) => ({ kind: "event" as const, name, data })

  test("are the same however they are cut, with any line end", async () => {
    const text = '\uFEFF: hello\r\n\r\nevent: a\rdata: {"x":\r\ndata:"ü"}\n\r\ndata: [DONE]\n\nid: 7\ndata: {"y":1}\n\n'
    const expected = [event('{"x":\n"ü"}', "a"), event('{"y":1}')]
    for (const size of [1, 2, 3, 5, 1000]) assert.deepEqual(await read(text, size), expected, `pieces of ${size}`)
  })

  test("end with the body, with or without an empty line", async () => {
    assert.deepEqual(await read('data: {"a":1}\n\ndata: {"b":2}', 4), [event('{"a":1}'), event('{"b":2}')])
  })

  test("may be one JSON body, however late it begins", async () => {
    assert.deepEqual(await read('\n \n{"a":\n1}\n', 2), [{ kind: "body", text: '{"a":\n1}\n' }])
    assert.deepEqual(await read("[1]", 1), [{ kind: "body", text: "[1]" }])
  })

  test("take time in proportion to their length, in small pieces too", async () => {
    const readLong = async (size: number) =>
      assert.equal((await read(`data: {"a":"${"x".repeat(size)}"}\n\n`, 8)).length, 1)
    await assertGrowsInLine(readLong, { size: 25_000 })
  })
})
