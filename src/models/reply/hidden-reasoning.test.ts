import assert from "node:assert/strict"
import test from "node:test"
import { assertGrowsInLine } from "../../../test/support/growth.ts"
import fc from "fast-check"
import { createReasoningFilter, stripHiddenReasoning, type Piece, type ReasoningMode } from "./index.ts"
import { isLong } from "../../../test/support/long.ts"

/** What a person sees and what is hidden, when the reply comes in these pieces. */
function read(pieces: readonly string[], mode: ReasoningMode): { text: string; reasoning: string } {
  const filter = createReasoningFilter(mode)
  let text = ""
  let reasoning = ""
  const take = (piece: Piece) => {
    if (piece.kind === "text") text += piece.text
    else if (piece.kind === "reasoning") reasoning += piece.text
    else {
      reasoning += text
      text = ""
    }
  }
  for (const piece of pieces) filter.push(piece).forEach(take)
  filter.end().forEach(take)
  return { text, reasoning }
}

/** [what, reply, what a person sees, what is hidden] */
const auto: readonly [string, string, string, string][] = [
  ["a block at the start", "<think>a b</think>\n\nHello", "Hello", "a b"],
  ["white space before it", "\n <think>a</think> Hello", "Hello", "a"],
  ["any case, and white space inside the tag", "< Think >a</ THINK\n>Hello", "Hello", "a"],
  ["another tag at the end than at the start", "<think>a</thinking>Hello", "Hello", "a"],
  ["thinking", "<thinking>a</thinking>Hello", "Hello", "a"],
  ["Seed-OSS", "<seed:think>a</seed:think>Hello", "Hello", "a"],
  ["MiniMax M3", "<mm:think>a</mm:think>\nHello", "Hello", "a"],
  ["Hunyuan", "<think:opensource>a</think:opensource>Hello", "Hello", "a"],
  ["EXAONE", "<thought>\na\n</thought>\n\nHello", "Hello", "\na\n"],
  ["Reka", "<reasoning>a</reasoning>Hello", "Hello", "a"],
  ["Kimi-VL", "◁think▷a◁/think▷Hello", "Hello", "a"],
  ["Magistral", "[THINK]a[/THINK]Hello", "Hello", "a"],
  ["Cohere", "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Hello<|END_RESPONSE|>", "Hello", "a"],
  ["Apertus", "<|inner_prefix|>a<|inner_suffix|>Hello", "Hello", "a"],
  [
    "OpenThinker",
    "<|begin_of_thought|>a<|end_of_thought|>\n<|begin_of_solution|>Hello<|end_of_solution|>",
    "Hello",
    "a",
  ],
  ["Gemma 4", "<|channel>thought\na\n<channel|>Hello<turn|>", "Hello", "a\n"],
  ["Gemma 4 without a thought", "<|channel>thought\n<channel|>Hello", "Hello", ""],
  [
    "harmony",
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
    "Hello",
    "a",
  ],
  [
    "harmony, with a role in front and a call",
    '<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.x <|constrain|>json<|message|>{"b":1}<|call|>',
    "",
    'a{"b":1}',
  ],
  ["harmony without its <|message|>", "<|channel|>analysis\na<|end|><|channel|>final\nHello", "Hello", "\na"],
  [
    "harmony, one message after the other",
    "<|channel|>analysis<|message|>a<|channel|>final<|message|>Hello",
    "Hello",
    "a",
  ],
  ["harmony, the final one alone", "<|channel|>final<|message|>Hello<|return|>", "Hello", ""],
  ["harmony, without a channel", "<|start|>assistant<|message|>Hello<|end|>", "Hello", ""],
  ["harmony without its marks", "analysisWe need to add.assistantfinalHello", "Hello", "We need to add."],
  ["two blocks in a row", "<think>a</think>\n<think>b</think>\nHello", "Hello", "ab"],
  ["a block at the start of a later line", "Hello\n<think>a</think>\nyou", "Hello\nyou", "a"],
  [
    "a tag that is spoken of inside a block",
    "<think>the user wants <think> tags</think>Hello",
    "Hello",
    "the user wants <think> tags",
  ],
  ["a block inside a block", "<think>a<think>b</think>c</think>Hello", "Hello", "a<think>bc"],
  ["the end alone", "I should add.\n</think>\n\nHello", "Hello", "I should add.\n"],
  ["the end alone, in the middle of a line", "I should add.</think>Hello", "Hello", "I should add."],
  ["the end alone, at the very start", "</think>\n\nHello", "Hello", ""],
  ["the end twice", "<think>a</think>b</think>Hello", "Hello", "ab"],
  ["the end alone behind a backtick that nothing closes", "take `x and y</think>Hello", "Hello", "take `x and y"],
  ["the end alone behind code", "run `x`.</think>Hello", "Hello", "run `x`."],
  ["the end alone behind a block of code", "```js\nx\n```</think>Hello", "Hello", "```js\nx\n```"],
  [
    "the end alone behind a fence that nothing closes",
    "so:\n```\nx\n</think>\nHello\n```js\ny\n```",
    "Hello\n```js\ny\n```",
    "so:\n```\nx\n",
  ],
  ["the end alone at the end, behind such a fence", "```\nx</think>", "", "```\nx"],
  ["the end alone in code behind a block", "<think>a</think>```\n</think>\n```", "```\n</think>\n```", "a"],
  ["a block that never ends", "<think>a b", "", "a b"],
  ["a block that never ends, with half a closing tag", "<think>a b</thi", "", "a b</thi"],
  ["a later block that never ends", "Hello\n<think>a", "Hello\n", "a"],
  ["an empty block", "<think>\n\n</think>\n\nHello", "Hello", "\n\n"],
  ["a block and code behind it", "<think>`</think>\n```\n<think>\n```\n", "```\n<think>\n```\n", "`"],
]

test("reasoning inside the text is taken out, in every form that models give it", async (t) => {
  for (const [what, reply, text, reasoning] of auto) {
    await t.test(what, () => {
      assert.deepEqual(read([reply], "auto"), { text, reasoning })
      assert.deepEqual(read([...reply], "auto"), { text, reasoning })
      assert.deepEqual(stripHiddenReasoning(reply, "auto"), { text, reasoning })
    })
  }
})

test("a reply that only speaks of tags is left as it is", async (t) => {
  for (const reply of [
    "Write `<think>` before and `</think>` after it.",
    "Write ``</think>`` so.",
    "```xml\n<think>\nplan\n</think>\n```\nThat is the form.",
    '```py\nanswer = text.split("</think>")[-1]\n```\n',
    "1. So:\n     ~~~\n     <think>x</think>\n     ~~~\n",
    "````\n```\n<think>x\n</think>\n```\n````\n",
    "The model writes <think> first and </think> last.",
    "a < b and c > d, [THINKING] hard, x<y>z, <thinker>, <b>bold</b>, [1], List<Thing>",
    "<html>\n<head></head>\n</html>",
    "It is `<|channel|>final<|message|>` there.",
    "The token <|start|> begins a message.",
    "A thought: <thought>not a tag of mine</x>",
    "analysis of the data: fine",
    "analysis",
    "analysisXYZ is a name",
    "\n\n  Hello\n\n",
    "   ",
    "",
    "<",
    "<thi",
    "half a tag <th",
  ]) {
    await t.test(JSON.stringify(reply), () => {
      assert.deepEqual(read([reply], "auto"), { text: reply, reasoning: "" })
      assert.deepEqual(read([...reply], "auto"), { text: reply, reasoning: "" })
    })
  }
})

test("a reply that begins inside reasoning is held back until its end", () => {
  assert.deepEqual(read(["a b", "</think>", "\nHello"], "open"), { text: "Hello", reasoning: "a b" })
  assert.deepEqual(read(["<think>a</think>Hello"], "open"), { text: "Hello", reasoning: "a" })
  assert.deepEqual(read(["a `</think>` b"], "open"), { text: "` b", reasoning: "a `" })
  assert.deepEqual(read(["analysis<|channel|>final<|message|>Hello"], "open"), { text: "Hello", reasoning: "analysis" })
  const filter = createReasoningFilter("open")
  assert.deepEqual(filter.push("a plan"), [])
  assert.deepEqual(filter.push(" and more"), [])
  assert.deepEqual(filter.push("</think>"), [{ kind: "reasoning", text: "a plan and more" }])
  assert.deepEqual(filter.push("Hello"), [{ kind: "text", text: "Hello" }])
  assert.deepEqual(filter.end(), [])
})

test("a reply that was expected to begin inside reasoning and has no end of it is text", () => {
  assert.deepEqual(read(["\nHello ", "you <think> there"], "open"), {
    text: "\nHello you <think> there",
    reasoning: "",
  })
  assert.deepEqual(read(["analysisWe have no end of it"], "auto"), {
    text: "analysisWe have no end of it",
    reasoning: "",
  })
})

test("nothing is touched when the filter is off", () => {
  const reply = "<think>a</think>Hello<|return|>"
  assert.deepEqual(read([...reply], "off"), { text: reply, reasoning: "" })
})

test("text is given as it comes, and only what may still become a tag is held back", () => {
  const filter = createReasoningFilter("auto")
  assert.deepEqual(filter.push("Hello"), [{ kind: "text", text: "Hello" }])
  assert.deepEqual(filter.push(" a <"), [{ kind: "text", text: " a " }])
  assert.deepEqual(filter.push("b"), [{ kind: "text", text: "<b" }])
  assert.deepEqual(filter.push("\n</th"), [{ kind: "text", text: "\n" }])
  assert.deepEqual(filter.push("ink> x"), [{ kind: "reclassify" }, { kind: "text", text: "x" }])
  assert.deepEqual(filter.push(" <think"), [{ kind: "text", text: " " }])
  assert.deepEqual(filter.end(), [{ kind: "text", text: "<think" }])
})

test("reasoning is given as it comes", () => {
  const filter = createReasoningFilter("auto")
  assert.deepEqual(filter.push("<think>a"), [{ kind: "reasoning", text: "a" }])
  assert.deepEqual(filter.push("b</"), [{ kind: "reasoning", text: "b" }])
  assert.deepEqual(filter.push("think>c"), [{ kind: "text", text: "c" }])
})

const words = fc.constantFrom(
  "a",
  "word",
  " ",
  "  ",
  "\n",
  "\n\n",
  "é",
  "👍",
  "<",
  ">",
  "`",
  "``",
  "```",
  "~~~",
  "[",
  "*",
  "- ",
  "final",
  "thought",
)
const marks = fc.constantFrom(
  "<think>",
  "</think>",
  "</ think >",
  "<thinking>",
  "<thought>",
  "</thought>",
  "[THINK]",
  "[/THINK]",
  "◁think▷",
  "◁/think▷",
  "<|channel|>",
  "<|start|>",
  "<|message|>",
  "<|end|>",
  "<|return|>",
  "<|constrain|>",
  "<|channel>",
  "<channel|>",
  "analysis",
  "assistantfinal",
  "assistant",
  "analysisWe",
)

function cut(reply: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((each) => each % (reply.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => reply.slice(from, places[index]))
}

test("a reply means the same wherever its stream is cut", () => {
  const reply = fc.array(fc.oneof(words, marks), { maxLength: 30 }).map((parts) => parts.join(""))
  const places = fc.array(fc.nat(400), { maxLength: 12 })
  fc.assert(
    fc.property(reply, places, fc.constantFrom<ReasoningMode>("auto", "open", "off"), (text, at, mode) => {
      const whole = read([text], mode)
      assert.deepEqual(read(cut(text, at), mode), whole)
      assert.deepEqual(read(text.split(""), mode), whole)
      assert.deepEqual(stripHiddenReasoning(text, mode), whole)
    }),
    { numRuns: isLong ? 5_000 : 1_000 },
  )
})

test("text without tags passes unchanged", () => {
  const reply = fc
    .array(fc.oneof(words, fc.string({ unit: "grapheme" })), { maxLength: 30 })
    .map((parts) => parts.join(""))
    // The words can come together as one.
    .filter((text) => !text.includes("<thought>"))
  fc.assert(
    fc.property(reply, fc.constantFrom<ReasoningMode>("auto", "open", "off"), (text, mode) => {
      assert.deepEqual(read([text], mode), { text, reasoning: "" })
    }),
    { numRuns: isLong ? 3_000 : 600 },
  )
})

test("what stands between tags is never given as text, however it is cut", () => {
  const pairs = fc.constantFrom(
    ["<think>", "</think>"],
    ["< THINK >", "</Think >"],
    ["<thinking>", "</thinking>"],
    ["<seed:think>", "</seed:think>"],
    ["<mm:think>", "</mm:think>"],
    ["[THINK]", "[/THINK]"],
    ["◁think▷", "◁/think▷"],
    ["<|channel>thought\n", "<channel|>"],
    ["<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"],
    ["", "</think>"],
    ["analysisWe", "assistantfinal"],
  )
  const inside = fc.array(fc.constantFrom("SECRET", " ", "\n", "a", "<", "- x", "```js\nx\n```\n", "`x`"), {
    minLength: 1,
    maxLength: 10,
  })
  fc.assert(
    fc.property(pairs, inside, fc.array(fc.nat(400), { maxLength: 10 }), ([open = "", close = ""], hidden, at) => {
      const { text, reasoning } = read(cut(`${open}SECRET${hidden.join("")}${close}\n\nHello you`, at), "auto")
      assert.equal(text, "Hello you")
      assert.ok(reasoning.includes("SECRET"))
    }),
    { numRuns: isLong ? 3_000 : 600 },
  )
})

test("a long reply costs as much a character as a short one, whatever it is made of", async () => {
  const pieces = [
    "a",
    "<",
    "<think>",
    "</think>",
    "`",
    "`</think>",
    "``</think> ",
    "\n",
    " ",
    "[",
    "◁",
    "<|channel|>",
    "<|start|>assistant",
    "analysis",
    "assistantfinal",
    "~",
    "< ",
  ]
  const ways = (["auto", "open"] as const).flatMap((mode) => ["", "analysisA "].map((start) => ({ mode, start })))
  for (const [index, piece] of pieces.entries()) {
    // In the short form each piece is tried in one of the ways, which take turns.
    for (const { mode, start } of isLong ? ways : ways.slice(index % ways.length).slice(0, 1)) {
      const readAll = (length: number) => {
        const text = start + piece.repeat(Math.ceil(length / piece.length))
        stripHiddenReasoning(text, mode)
        const filter = createReasoningFilter(mode)
        for (let at = 0; at < text.length; at += 7) filter.push(text.slice(at, at + 7))
        filter.end()
      }
      await assertGrowsInLine(readAll, { size: 10_000, what: `${JSON.stringify(start + piece)} ${mode}` })
    }
  }
})
