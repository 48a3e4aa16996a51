import assert from "node:assert/strict"
import { Writable } from "node:stream"
import { test } from "node:test"
import pino from "pino"
import { systemClock } from "../../../kernel/index.ts"
import { DropLog } from "./drop-log.ts"

interface Line {
  msg: string
  chat: string
  sender: string
  reason: string
  alsoSkipped?: number
}

function begin() {
  const lines: Line[] = []
  const sink = new Writable({
    write: (chunk: Buffer, _, done) => (lines.push(JSON.parse(String(chunk)) as Line), done()),
  })
  let now = 1_800_000_000_000
  const drops = new DropLog({ log: pino(sink), clock: { ...systemClock, now: () => now } })
  const note = (chat: string, sender: number, reason = "sender-not-listed") =>
    drops.note({ update: "1", chat, sender: String(sender), reason })
  return { lines, note, pass: (ms: number) => (now += ms) }
}

test("each drop has its line, up to ten a minute of one chat and reason; the rest is counted and told later", () => {
  const { lines, note, pass } = begin()
  for (let sender = 1; sender <= 25; sender += 1) note("-100", sender)
  assert.deepEqual(
    lines.map(({ sender }) => sender),
    ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
  )
  note("-100", 26, "no-mention")
  note("-200", 27)
  assert.equal(lines.length, 12, "another reason and another chat have lines of their own")
  pass(60_000)
  note("-100", 28)
  note("-100", 29)
  assert.deepEqual(
    lines.slice(12).map(({ sender, alsoSkipped }) => [sender, alsoSkipped]),
    [
      ["28", 15],
      ["29", undefined],
    ],
  )
})

test("a flood of strangers in chats of their own is one thing, however many they are", () => {
  const { lines, note } = begin()
  for (let sender = 1; sender <= 5_000; sender += 1) note(String(sender), sender, "not-listed")
  assert.equal(lines.length, 10)
  assert.equal(lines[0]?.msg, "skipping direct message")
})

test("a clock that is set back silences nothing", () => {
  const { lines, note, pass } = begin()
  for (let count = 0; count < 11; count += 1) note("-100", 1)
  pass(-3_600_000)
  note("-100", 2)
  assert.equal(lines.at(-1)?.sender, "2")
})
