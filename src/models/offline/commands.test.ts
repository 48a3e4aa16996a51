import assert from "node:assert/strict"
import { test } from "node:test"
import { parseCommands, type Command } from "./commands.ts"
import { quoteForeign, splitText } from "./reading.ts"
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
  ["go to localhost:3000/x", [{ kind: "open", url: "http://localhost:3000/x" }]],
  ["visit example.org!", [{ kind: "open", url: "https://example.org" }]],
  [
    'say 5" is short; say bye',
    [
      { kind: "say", text: '5" is short' },
      { kind: "say", text: "bye" },
    ],
  ],
  ["open sesame", [{ kind: "unknown", text: "open sesame" }]],
  ["put the kettle on", [{ kind: "unknown", text: "put the kettle on" }]],
]

for (const [text, commands] of understood) {
  test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parseCommands(text), commands))
}

test("a long text to say is kept whole", () => {
  const long = "word ".repeat(5000).trim()
  assert.deepEqual(parseCommands(`say ${long}`), [{ kind: "say", text: long }])
})

test("hostile text of the largest size is read in a moment", () => {
  const size = 250_000
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
  ]
  const startedAt = performance.now()
  for (const piece of hostile) {
    const text = `x${piece.repeat(size / piece.length)}x`
    parseCommands(text)
    quoteForeign(text)
    splitText(text)
  }
  assert.ok(performance.now() - startedAt < 5000)
})

test("a large page of equal buttons is searched in a moment", () => {
  const page = Array.from({ length: 3000 }, (_, index) => `- button "Add ${index} to basket" [ref=${index}]`).join("\n")
  const startedAt = performance.now()
  assert.equal(findBasketButton(parseSnapshot(page), "nothing of this name").kind, "none")
  assert.ok(performance.now() - startedAt < 2000)
})
