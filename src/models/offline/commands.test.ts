import assert from "node:assert/strict"
import { test } from "node:test"
import { assertGrowsInLine } from "../../../test/support/growth.ts"
import { parseCommands, type Command } from "./commands.ts"
import { quoteForeign, splitText } from "./reading.ts"
import { reminderOrder } from "./reminders.ts"
import { findBasketButton, parseSnapshot } from "./snapshot.ts"

const understood: [string, Command[]][] = [
  [
    "open http://127.0.0.1:4000/shop , put Tea into the basket and send me a picture",
    [{ kind: "open", url: "http://127.0.0.1:4000/shop" }, { kind: "add", name: "Tea" }, { kind: "screenshot" }],
  ],
  [
    'type "x; then y and click z" into "Search box" and press enter',
    [
      { kind: "type", text: "x; then y and click z", name: "Search box" },
      { kind: "press", key: "Enter" },
    ],
  ],
  ["type salt and press cheese into Search", [{ kind: "type", text: "salt and press cheese", name: "Search" }]],
  ['Please click on the "Add to cart" button.', [{ kind: "click", name: "Add to cart button" }]],
  ["add Tea and Coffee to the basket", [{ kind: "add", name: "Tea and Coffee" }]],
  [
    "wait 2 seconds then say done!",
    [
      { kind: "wait", seconds: 2 },
      { kind: "say", text: "done!" },
    ],
  ],
  [
    'say "a; b then c"; think twice',
    [
      { kind: "say", text: "a; b then c" },
      { kind: "think", text: "twice" },
    ],
  ],
  ["SCREENSHOT, please", [{ kind: "screenshot" }]],
  ["@my_bot, please say hi", [{ kind: "say", text: "hi" }]],
  ["say @my_bot is here", [{ kind: "say", text: "@my_bot is here" }]],
  ["go to localhost:3000/x", [{ kind: "open", url: "http://localhost:3000/x" }]],
  ["visit example.org!", [{ kind: "open", url: "https://example.org" }]],
  [
    'say 5" is short; say bye',
    [
      { kind: "say", text: '5" is short' },
      { kind: "say", text: "bye" },
    ],
  ],
  ["remind me in 20 minutes", [{ kind: "remind", time: { in: "20 minutes" }, text: "" }]],
  [
    "Please remind me in half an hour to open the shop and read the mail, then say ok",
    [
      { kind: "remind", time: { in: "30 minutes" }, text: "open the shop and read the mail" },
      { kind: "say", text: "ok" },
    ],
  ],
  [
    "remind me to meet Bob at 5 in an hour and 10 min.",
    [{ kind: "remind", time: { in: "1 hour and 10 min" }, text: "meet Bob at 5" }],
  ],
  ['remind me at 6:05 pm about "x; y"', [{ kind: "remind", time: { at: "18:05" }, text: "x; y" }]],
  [
    "remind me of the feast at 2026-12-24 18:00",
    [{ kind: "remind", time: { at: "2026-12-24 18:00" }, text: "the feast" }],
  ],
  ["remind me at 25:00 to eat", [{ kind: "remind-when" }]],
  ["remind me at 13pm to eat", [{ kind: "remind-when" }]],
  ["remind me soon", [{ kind: "remind-when" }]],
  ["list my reminders", [{ kind: "reminders" }]],
  ["cancel reminder 8F3A61C2", [{ kind: "forget", id: "8f3a61c2" }]],
  ["open sesame", [{ kind: "unknown", text: "open sesame" }]],
  ["put the kettle on", [{ kind: "unknown", text: "put the kettle on" }]],
]

for (const [text, commands] of understood) {
  test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parseCommands(text), commands))
}

test("what comes back at its time is a command that says it, whatever the words are", () => {
  const order = reminderOrder({ time: { in: "20 minutes" }, text: 'say "x"; open evil.test\nthen click y' })
  assert.equal(order, `say "Reminder: say 'x'; open evil.test then click y"`)
  assert.deepEqual(parseCommands(order), [{ kind: "say", text: "Reminder: say 'x'; open evil.test then click y" }])
  assert.equal(reminderOrder({ time: { at: "18:00" }, text: "" }), 'say "Reminder: it is 18:00"')
})

test("a long text to say is kept whole", () => {
  const long = "word ".repeat(5000).trim()
  assert.deepEqual(parseCommands(`say ${long}`), [{ kind: "say", text: long }])
})

test("hostile text costs no more than its length", async () => {
  const hostile = [
    " ",
    "\n",
    "“",
    '"',
    "[",
    ", ",
    " and",
    "; ",
    "open ",
    "add x ",
    "say “\n",
    "\r",
    "System: [",
    "a then ",
    "remind me in 1 m ",
  ]
  for (const piece of hostile) {
    const read = (size: number) => {
      const text = `x${piece.repeat(size / piece.length)}x`
      parseCommands(text)
      quoteForeign(text)
      splitText(text)
    }
    await assertGrowsInLine(read, { size: 15_000, what: JSON.stringify(piece) })
  }
})

test("a search among equal buttons costs no more than their number", async () => {
  const search = (size: number) => {
    const page = Array.from({ length: size }, (_, index) => `- button "Add ${index} to basket" [ref=${index}]`).join(
      "\n",
    )
    assert.equal(findBasketButton(parseSnapshot(page), "nothing of this name").kind, "none")
  }
  await assertGrowsInLine(search, { size: 250 })
})
