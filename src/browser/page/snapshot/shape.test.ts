// What is left out of a snapshot that is to be shorter, and what is said of it.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { World } from "../frames.ts"
import type { Line } from "./line.ts"
import { charsPerToken, compact, cut, find, fit } from "./shape.ts"

const entry = { world: {} as World, id: 1 }

function linesOf(...texts: string[]): Line[] {
  return texts.map((text) => {
    const depth = (text.length - text.trimStart().length) / 2
    const key = /\[ref=(e\d+)\]/.exec(text)?.[1]
    if (key === undefined) return { text, depth }
    const role = /- ([\w-]+)/.exec(text)?.[1] ?? ""
    return { text, depth, ref: { key, role, name: "", interactive: role === "button", entry } }
  })
}

const textsOf = (lines: readonly Line[]) => lines.map(({ text }) => text)

test("compact keeps what can be acted on, has a name or says something, and what holds such", () => {
  const page = linesOf(
    "- banner:",
    "  - img",
    "- navigation:",
    "  - list:",
    "    - listitem:",
    '      - link "Home" [ref=e1]:',
    "        - /url: /home",
    '- group "Filters"',
    "- separator",
    "- main:",
    "  - generic [ref=e2]",
    "- contentinfo:",
    "  - img",
    "  - paragraph: by us",
    "  - img",
    '- img ""',
    "- complementary:",
    "  - figure:",
    "    - /url: /x",
  )
  assert.deepEqual(textsOf(compact(page)), [
    "- navigation:",
    '      - link "Home" [ref=e1]:',
    '- group "Filters"',
    "- main:",
    "  - generic [ref=e2]",
    "- contentinfo:",
    "  - paragraph: by us",
  ])
})

test("find gives lines of a role where the page has it, else those that hold the words, as a flat list", () => {
  const page = linesOf("- list:", '  - button "Save list" [ref=e1]:', "    - img: list", '- link "A button" [ref=e2]')
  assert.deepEqual(
    find(page, " BUTTON ").map(({ text, depth, ref }) => [text, depth, ref?.key]),
    [['- button "Save list" [ref=e1]', 0, "e1"]],
  )
  assert.deepEqual(textsOf(find(page, "img")), ["- img: list"], "also a role without refs")
  assert.deepEqual(textsOf(find(page, " SAVE ")), ['- button "Save list" [ref=e1]'])
})

test("cut ends at a line's end, and always shows one", () => {
  const page = linesOf("- a: 45", "- b: 45", "- c: 45")
  assert.deepEqual(cut(page, 24), { lines: page, left: "" })
  assert.deepEqual(cut(page, 23), { lines: page.slice(0, 2), left: "1 of 3 lines left out" })
  assert.deepEqual(cut(page, 0), { lines: page.slice(0, 1), left: "2 of 3 lines left out" })
  assert.deepEqual(cut([], 0), { lines: [], left: "" })
})

test("fit leaves out the least useful first, from the page's end, and no more than it must", () => {
  // Eight characters each, with their line's end.
  const page = linesOf(
    "- /url: ",
    "- text: ",
    "- img: x",
    "- headin",
    "- heading",
    "- button [ref=e1]",
    "- option",
    "- /url: ",
    "- button [ref=e2]",
  ).map((line, index) => ({ ...line, text: line.text.slice(0, 20), index }))
  const chars = (kept: readonly Line[]) => kept.reduce((sum, { text }) => sum + text.length + 1, 0)
  const all = chars(page)
  const kept = (maxChars: number) => {
    const { lines, left } = fit(page, maxChars / charsPerToken)
    return { gone: page.filter((line) => !lines.includes(line)).map(({ index }) => index), left }
  }
  assert.deepEqual(kept(all), { gone: [], left: "" })
  assert.deepEqual(kept(all - 1), { gone: [7], left: "1 addresses left out" })
  assert.deepEqual(kept(all - 10), { gone: [0, 7], left: "2 addresses left out" })
  assert.deepEqual(kept(all - 19), { gone: [0, 6, 7], left: "2 addresses, 1 options and texts left out" })
  assert.deepEqual(kept(all - 37), {
    gone: [0, 1, 3, 6, 7],
    left: "2 addresses, 2 options and texts, 1 elements without refs left out",
  })
  assert.deepEqual(kept(36), {
    gone: [0, 1, 2, 3, 4, 6, 7],
    left: "2 addresses, 2 options and texts, 2 elements without refs, 1 headings left out",
  })
  assert.deepEqual(kept(18).gone, [0, 1, 2, 3, 4, 6, 7, 8], "of what can be acted on, the first stays longest")
  const choices = linesOf("- option [ref=e1]", "- button [ref=e2]", "- text: x").map((line) => ({
    ...line,
    ...(line.ref ? { ref: { ...line.ref, interactive: true } } : {}),
  }))
  assert.deepEqual(fit(choices, 9), { lines: choices.slice(0, 2), left: "1 options and texts left out" })
  assert.deepEqual(fit(choices, 5), { lines: choices.slice(0, 1), left: "1 options and texts, 1 elements left out" })
  assert.deepEqual(kept(-5).gone, [0, 1, 2, 3, 4, 6, 7, 8], "something is always shown")
  const [single] = page
  assert.deepEqual(fit([single as Line], 1), { lines: [single], left: "" }, "nothing is left out of one line")
})
