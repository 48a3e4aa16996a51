// Elements by the words of a snapshot: which lines are meant, and by which words one is found again.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { World } from "../frames.ts"
import type { Line } from "./line.ts"
import { type Element, type Wanted, locate, locatorOf, readElements, wordsOf } from "./locate.ts"

const entry = { world: {} as World, id: 1 }

/** A page as its snapshot shows it, a line each. */
function read(...texts: string[]): Element[] {
  return readElements(
    texts.map((text): Line => {
      const depth = (text.length - text.trimStart().length) / 2
      const key = /\[ref=(e\d+)\]/.exec(text)?.[1]
      if (key === undefined) return { text, depth }
      const role = /- ([\w-]+)/.exec(text)?.[1] ?? ""
      const interactive = /^(button|link|textbox|checkbox|combobox|searchbox|slider)$/.test(role)
      return { text, depth, ref: { key, role, name: "", interactive, entry } }
    }),
  )
}

const keys = (elements: readonly Element[]) => elements.map(({ line, index }) => line.ref?.key ?? `line ${index}`)
const find = (elements: Element[], words: string, inside?: string, acts = true) =>
  keys(locate(elements, { find: words, in: inside }, acts))

test("reads of a line what the element is, is called, holds, hints at, and whether it is disabled", () => {
  for (const [text, role, name, value, hint, isDisabled] of [
    ['- button "Save" [ref=e1]', "button", "Save", "", "", false],
    ['- button "Say \\"hi\\" [ref=e9]" [ref=e1] [disabled]', "button", 'Say "hi" [ref=e9]', "", "", true],
    ['- textbox "Mail" [ref=e1]: a@b.c', "textbox", "Mail", "a@b.c", "", false],
    ['- textbox "Mail" [ref=e1] of "Row: 2" [disabled]: a@b.c', "textbox", "Mail", "a@b.c", "", true],
    ['- textbox [ref=e1] (of Row (2)) [disabled]: "a: b"', "textbox", "", "a: b", "", true],
    ["- button [ref=e1] (of Tea (green)):", "button", "", "", "", false],
    [
      '- textbox [ref=e1] [placeholder="Year [4 \\"digits\\"]"] [disabled]',
      "textbox",
      "",
      "",
      'Year [4 "digits"]',
      true,
    ],
    ['- button [ref=e1] [hint="trash"] [placeholder="x"]', "button", "", "", "trash x", false],
    ['- paragraph: "Price: 5"', "paragraph", "", "Price: 5", "", false],
    ['- paragraph: "torn', "paragraph", "", "torn", "", false],
    ["- list:", "list", "", "", "", false],
    ["- /url: /shop", "", "", "", "", false],
  ] as const) {
    const [element] = read(text)
    assert.deepEqual(
      [element?.role, element?.name, element?.value, element?.hint, element?.isDisabled],
      [role, name, value, hint, isDisabled],
      text,
    )
  }
})

test("knows in what each line stands", () => {
  const page = read("- list:", "  - listitem:", "    - link [ref=e1]: One", "  - listitem:", "- button [ref=e2]")
  assert.deepEqual(
    page.map(({ parent }) => parent),
    [-1, 0, 1, 0, -1],
  )
})

test("takes a role and words, words alone, or a role alone", () => {
  const page = read(
    '- heading "Order" [ref=e1]',
    '- button "Order" [ref=e2]',
    '- button "Order  all" [ref=e3]',
    "- status: Nothing ordered",
    '- link "Button" [ref=e4]',
  )
  for (const words of ['button "Order"', '- button "Order"', 'BUTTON "order"', "Button Order", " order ", '"Order"'])
    assert.deepEqual(find(page, words), ["e2"], words)
  assert.deepEqual(find(page, "heading order"), ["e1"], "the role was said")
  assert.deepEqual(find(page, "button"), ["e2", "e3"])
  assert.deepEqual(find(page, 'link "Button"'), ["e4"])
  assert.deepEqual(find(page, "order \n ALL"), ["e3"], "space and case tell nothing apart")
  assert.deepEqual(find(page, "heading all"), [], "not the words without their role")
  assert.deepEqual(find(page, "status"), [], "nothing to act on")
  assert.deepEqual(find(page, "status", undefined, false), ["line 3"])
  assert.deepEqual(find(page, "", undefined, false), [])
})

test("takes a first word for words where they stand so on the page", () => {
  const page = read('- link "Button up" [ref=e1]', '- button "Down" [ref=e2]')
  assert.deepEqual(find(page, "Button up"), ["e1"])
})

test("takes the surest: a whole name, words without one, a hint, then a part", () => {
  const page = [
    '- button "Search all of it" [ref=e1]: search here',
    '- textbox "City" [ref=e2]: search',
    '- textbox [ref=e3] [placeholder="Search"]',
    "- paragraph [ref=e4]: Search",
    '- link "Search" [ref=e5]',
    '- textbox [ref=e6] [placeholder="Try search"]',
  ]
  for (const [left, found] of [
    [[5, 4, 3, 2, 1, 0], ["e5"]],
    [[5, 3, 2, 1, 0], ["e4"]],
    [[5, 2, 1, 0], ["e3"]],
    [[5, 1, 0], ["e1"]],
    [
      [5, 1],
      ["e6", "e2"],
    ],
  ] as const)
    assert.deepEqual(find(read(...left.map((index) => page[index] as string)), "search"), found)
})

test("of equals takes those in the same part of the page as the words", () => {
  const page = read(
    '- heading "Tea" [ref=e1]',
    "- listitem:",
    '  - heading "Green Tea" [ref=e2]',
    '  - button "Add" [ref=e3]',
    '- listitem "Last": one left',
    "  - paragraph: Black Tea",
    '  - button "Add" [ref=e4]',
    '- button "Add" [ref=e5]',
  )
  assert.deepEqual(find(page, "button Add"), ["e3", "e4", "e5"])
  assert.deepEqual(find(page, "button Add", "green tea"), ["e3"])
  assert.deepEqual(find(page, "button Add", 'heading "Green Tea"'), ["e3"])
  assert.deepEqual(find(page, "button Add", "Black"), ["e4"], "a part of the words will do")
  assert.deepEqual(find(page, "button Add", "te"), ["e3", "e4"])
  assert.deepEqual(find(page, "button Add", "tea"), ["e3"], "the whole words before a part of others, and what is next")
  assert.deepEqual(find(page, "button Add", "listitem"), ["e3", "e4"], "whatever it says")
  assert.deepEqual(find(page, "button Add", "coffee"), [])
})

test("where all stand in the same part, takes those next behind the words", () => {
  const page = read(
    '- heading "Morning" [ref=e1]',
    '- button "Book" [ref=e2]',
    '- heading "Evening" [ref=e3]',
    '- button "Book" [ref=e4]',
    "- paragraph: Evening",
    '- button "Book" [ref=e5]',
  )
  assert.deepEqual(find(page, "Book", "Morning"), ["e2"])
  assert.deepEqual(find(page, "Book", "Evening"), ["e4", "e5"])
})

test("says of an element what it holds, its name, or the words in it", () => {
  const page = read(
    '- textbox "Name" [ref=e1]: Berta',
    '- button "Save" [ref=e2]:',
    "  - text: now",
    "- listitem:",
    "  - paragraph: Green Tea",
    '  - link "Details" [ref=e3]: more',
    "    - /url: /tea",
    '  - button "Add" [ref=e4]',
    "- paragraph: Next",
  )
  assert.deepEqual(
    [0, 1, 3].map((index) => wordsOf(page, page[index] as Element)),
    ["Berta", "Save", "Green Tea more Add"],
  )
})

test("finds an element again by the words that it gives, the shortest that tell it from all others", () => {
  const long = "very long words ".repeat(10).trim()
  const page = read(
    '- heading "Tea" [ref=e1]',
    "- listitem:",
    "  - link [ref=e2]: Picture",
    "    - /url: /green",
    '  - heading "Green Tea" [ref=e3]',
    '  - button "Add" [ref=e4]',
    "  - button [ref=e5]",
    "- listitem:",
    "  - link [ref=e6]: Picture",
    '  - heading "Black Tea" [ref=e7]',
    '  - button "Add" [ref=e8]',
    "- list:",
    '  - button "Same" [ref=e9]',
    '  - button "Same" [ref=e10]',
    "- list:",
    ...Array.from({ length: 9 }, () => "  - separator"),
    "  - paragraph: Oolong",
    "  - group:",
    '    - button "Add" [ref=e14]',
    "- textbox [ref=e11]: Berta",
    '- searchbox [ref=e12] [placeholder="Find"]',
    `- link "${long}" [ref=e13]`,
  )
  const locators = new Map<string, Wanted | undefined>()
  for (const element of page.filter(({ line }) => line.ref)) {
    const wanted = locatorOf(page, element)
    assert.ok(wanted, element.line.text)
    const found = locate(page, wanted, true)
    assert.equal(wanted.nth === undefined ? (found.length === 1 ? found[0] : undefined) : found[wanted.nth], element)
    locators.set(element.line.ref?.key ?? "", wanted)
  }
  assert.deepEqual(locators.get("e2"), { find: 'link "Picture"', in: "Green Tea" })
  assert.deepEqual(locators.get("e4"), { find: 'button "Add"', in: "Green Tea" })
  assert.deepEqual(locators.get("e8"), { find: 'button "Add"', in: "Black Tea" })
  assert.deepEqual(locators.get("e10"), { find: 'button "Same"', nth: 1 })
  assert.deepEqual(locators.get("e14"), { find: 'button "Add"', in: "Oolong" })
  assert.deepEqual(locators.get("e11"), { find: "textbox" }, "what a field holds will be another")
  assert.deepEqual(locators.get("e12"), { find: 'searchbox "Find"' })
  assert.ok((locators.get("e13")?.find.length ?? 0) < 120)
})

test("gives no words for an element that others are meant by first", () => {
  const [hinted, ...named] = ['- textbox [ref=e1] [placeholder="Search"]', '- textbox "Search" [ref=e2]']
  const page = read(hinted as string, ...named)
  assert.equal(locatorOf(page, page[0] as Element), undefined)
})
