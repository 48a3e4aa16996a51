// How what a page shows is told: whole, by its changes, by what is searched for, within limits. The page is a script's: what
// its walk gives is what a test says.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { type SnapshotOptions, takeSnapshot } from "./take.ts"

const plain: SnapshotOptions = {
  interactive: false,
  compact: false,
  efficient: false,
  depth: -1,
  selector: "",
  frame: "",
  roleRefs: true,
  maxChars: undefined,
  maxTokens: undefined,
  maxLines: undefined,
  find: "",
  diff: false,
  patient: false,
}

/** Lines as the walker writes them; `[ref]` stands for a number, the same for the same words. */
async function openPage() {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  const ids = new Map<string, number>()
  const state = { lines: [] as string[], inFrame: [] as string[], changed: false, folded: 0, left: 0 }
  const walkOf = (lines: readonly string[], title: string) => {
    const refs = lines.flatMap((line, index) => {
      if (!line.includes("[ref]")) return []
      const id = ids.get(line.trim()) ?? ids.size + 1
      ids.set(line.trim(), id)
      return [index, id, /^ *- (?:button|link|textbox)/.test(line) ? 1 : 0]
    })
    const frames = lines.flatMap((line, index) =>
      line.includes("- iframe") ? [[index, 700, line.indexOf("-") / 2 + 1]] : [],
    )
    const { changed, folded } = state
    const report = { refs, frames, suspects: 0, folded, changed, title }
    return `${JSON.stringify(report)}\n${lines.map((line) => line.replace("[ref]", "[ref=\0]")).join("\n")}`
  }
  browser.answer("Page.createIsolatedWorld", ({ params }) => ({
    executionContextId: params["frameId"] === "TAB" ? 1 : 2,
  }))
  browser.answer("DOM.getFrameOwner", () => ({ backendNodeId: 1 }))
  browser.answer("DOM.resolveNode", () => ({ object: { objectId: "1" } }))
  browser.answer("Runtime.callFunctionOn", () => ({ result: { value: 700 } }))
  browser.answer("Runtime.evaluate", ({ params: { expression, contextId } }) => {
    const text = String(expression)
    if (text.includes(".holder(")) return { result: { value: 700 } }
    if (!text.includes(".walk(")) return { result: {} }
    if (state.left-- > 0) throw new Error("Cannot find context with specified id")
    return { result: { value: contextId === 2 ? walkOf(state.inFrame, "Inner") : walkOf(state.lines, "Page") } }
  })
  const snapshot = (options: Partial<SnapshotOptions> = {}) =>
    tab.operate({ what: "The snapshot", timeoutMs: 5_000 }, (operation) =>
      takeSnapshot(tab, operation, { ...plain, ...options }),
    )
  return {
    snapshot,
    text: async (options: Partial<SnapshotOptions> = {}) => (await snapshot(options)).snapshot,
    /** Shows these lines; the page says itself that it has changed. */
    show(...lines: string[]) {
      Object.assign(state, { lines, changed: true })
    },
    showInFrame(...lines: string[]) {
      state.inFrame = lines
      browser.event("Page.frameAttached", { frameId: "F", parentFrameId: "TAB" }, "S1")
    },
    /** So many times another document comes while this one is read. */
    leave: (times: number) => (state.left = times),
    worlds: () => browser.count("Page.createIsolatedWorld"),
    rest: () => (state.changed = false),
    fold: (folded: number) => (state.folded = folded),
    go: (url: string) => browser.event("Page.navigatedWithinDocument", { frameId: "TAB", url }, "S1"),
  }
}

const rows = (count: number, word = "row") => Array.from({ length: count }, (_, index) => `- text: ${word} ${index}`)

test("gives refs their place among those of the same role and name, and none to those that are alone", async () => {
  const page = await openPage()
  page.show(
    '- button "Same" [ref]',
    '- link "Same" [ref]',
    '- button "Same" [ref] [pressed]',
    '- button "Say \\"no\\"" [ref]: x',
    "- generic [ref]",
  )
  const { snapshot, refs, stats, title, truncated } = await page.snapshot()
  assert.equal(
    snapshot,
    '- button "Same" [ref=e1]\n- link "Same" [ref=e2]\n- button "Same" [ref=e3] [nth=1] [pressed]\n' +
      '- button "Say \\"no\\"" [ref=e4]: x\n- generic [ref=e5]',
  )
  assert.deepEqual(refs, {
    e1: { role: "button", name: "Same", nth: 0 },
    e2: { role: "link", name: "Same" },
    e3: { role: "button", name: "Same", nth: 1 },
    e4: { role: "button", name: 'Say "no"' },
    e5: { role: "generic" },
  })
  assert.deepEqual(stats, { lines: 5, chars: snapshot.length, refs: 5, interactive: 4 })
  assert.deepEqual([title, truncated], ["Page", false])
  assert.match(
    await page.text({ roleRefs: false }),
    /^- button "Same" \[ref=1\]\n.*\n- button "Same" \[ref=3\] \[pressed\]$/m,
  )
  page.fold(3)
  assert.equal((await page.snapshot({ efficient: true })).truncated, true)
})

test("shows what a frame holds below its line, and of that frame alone no title of the page", async () => {
  const page = await openPage()
  page.show("- main:", '  - iframe "Shop" [ref]', "- contentinfo")
  page.showInFrame('- button "Pay" [ref]', "- list:", "  - listitem: one")
  assert.equal(
    await page.text(),
    '- main:\n  - iframe "Shop" [ref=e1]:\n    - button "Pay" [ref=e2]\n    - list:\n      - listitem: one\n- contentinfo',
  )
  assert.match(await page.text({ interactive: true }), /^- button "Pay" \[ref=e2\]$/m)
  assert.match(await page.text({ compact: true }), /^- main:\n {2}- iframe/)
  const inside = await page.snapshot({ frame: "iframe" })
  assert.deepEqual([inside.snapshot.split("\n")[0], inside.title], ['- button "Pay" [ref=e2]', ""])
})

test("leaves a frame that shows nothing as it is", async () => {
  const page = await openPage()
  page.show('- iframe "Empty" [ref]')
  page.showInFrame()
  assert.equal(await page.text(), '- iframe "Empty" [ref=e1]')
})

test("reads the new page where the page moved on while it was read, and gives up on one that keeps doing so", async () => {
  const page = await openPage()
  page.show("- text: there")
  page.leave(3)
  assert.equal(await page.text(), "- text: there")
  assert.equal(page.worlds(), 4, "each document has a world of its own")
  page.leave(4)
  await assert.rejects(page.text(), { code: "stale-ref" })
})

test("tells changes against what was shown of the page with the same options, and another page as a whole", async () => {
  const page = await openPage()
  page.show("- text: a", "- text: b")
  assert.equal(await page.text({ diff: true }), "- text: a\n- text: b")
  page.show("- text: a", "- text: c")
  assert.equal(await page.text({ diff: true }), "-- text: b\n+- text: c")
  assert.equal(await page.text({ diff: true, efficient: true }), "- text: a\n- text: c", "the first of its kind")
  page.go("https://a.example/next")
  page.show("- text: a", "- text: d")
  assert.equal(await page.text({ diff: true }), "- text: a\n- text: d")
})

test("a search changes nothing of what changes are told against", async () => {
  const page = await openPage()
  page.show("- text: a", "- text: b")
  await page.snapshot()
  page.show("- text: a", "- text: c")
  assert.equal(await page.text({ find: "a" }), "- text: a")
  await page.snapshot({ efficient: true })
  assert.equal(await page.text({ diff: true }), "-- text: b\n+- text: c")
  page.show("- text: Echo", "- text: c")
  assert.equal(
    await page.text({ diff: true, find: "text: c" }),
    "(nothing that matches has changed, but something else)",
  )
  assert.equal(await page.text({ diff: true, find: "eCHO" }), "+- text: Echo")
  assert.equal(await page.text({ diff: true }), "-- text: a\n+- text: Echo")
  page.show("- text: Echo", ...rows(15), "- text: c")
  await page.snapshot()
  page.show("- text: Echo", "- text: c")
  assert.equal(await page.text({ diff: true, find: "row 7" }), "-- text: row 7", "also in the middle of what is gone")
})

test("says where a change lies that this kind of snapshot does not show", async () => {
  const page = await openPage()
  const elsewhere =
    "(nothing of what this kind of snapshot shows has changed, but something else on the page: see mode full)"
  for (const options of [
    { interactive: true },
    { compact: true },
    { depth: 1 },
    { selector: "main" },
    { frame: "x" },
  ]) {
    if ("frame" in options) page.showInFrame("- text: in")
    page.show("- text: a", "- iframe")
    await page.snapshot(options)
    assert.equal(await page.text({ ...options, diff: true }), elsewhere, JSON.stringify(options))
    page.rest()
    assert.equal(await page.text({ ...options, diff: true }), "(no changes)", JSON.stringify(options))
  }
  page.show("- text: a")
  await page.snapshot()
  assert.equal(await page.text({ diff: true }), "(no changes)", "one that shows all has nothing elsewhere")
})

test("tells a page that is another one as a whole, and few changes by themselves", async () => {
  const page = await openPage()
  page.show(...rows(12))
  await page.snapshot()
  page.show("- text: only")
  assert.match(await page.text({ diff: true }), /^-- text: row 0\n[^]*\n\+- text: only$/, "13 changes are few")
  page.show(...rows(20))
  await page.snapshot()
  page.show("- text: only")
  page.fold(2)
  const { snapshot, truncated } = await page.snapshot({ diff: true, efficient: true })
  assert.deepEqual([snapshot, truncated], ["- text: only", true])
  page.show("- text: only", ...rows(20))
  await page.snapshot()
  page.show(...rows(2, "new"))
  const whole = await page.snapshot({ diff: true })
  assert.match(
    whole.snapshot,
    /^\(most of it has changed: this is all that is there now\)\n- text: new 0\n- text: new 1$/,
  )
  assert.equal(whole.truncated, true, "what is folded in it is left out")
})

test("tells in a line what is again as it was before, of the same page alone", async () => {
  const page = await openPage()
  page.show(...rows(30))
  await page.snapshot()
  page.show("- dialog")
  await page.snapshot({ diff: true })
  page.show(...rows(30))
  assert.equal(await page.text({ diff: true }), "(again as it was before the last change)")
  page.show("- dialog")
  await page.snapshot({ diff: true })
  page.show(...rows(30), "- status: done")
  assert.equal(await page.text({ diff: true }), "(again as it was before the last change, but for:)\n+- status: done")
  page.go("https://a.example/next")
  page.show("- dialog")
  await page.snapshot()
  page.show(...rows(30), "- status: done")
  assert.doesNotMatch(await page.text({ diff: true }), /again as it was/, "that was another page")
})

test("says what there is none of", async () => {
  const page = await openPage()
  page.show()
  assert.equal(await page.text(), "(empty)")
  assert.equal(await page.text({ interactive: true }), "(no interactive elements)")
  assert.equal(await page.text({ find: "x" }), "(nothing matches)")
})

test("counts the note about what was left out to what is answered, and says by what more is had", async () => {
  const page = await openPage()
  page.show(...rows(100))
  const wider = "ask for interactive elements only, or a larger maxChars"
  const cases: [Partial<SnapshotOptions>, string][] = [
    [{ maxLines: 5 }, `96 further lines left out; ${wider}`],
    [
      { maxLines: 5, interactive: true },
      "96 further lines left out; look for words with find, or allow more (maxChars)",
    ],
    [{ maxLines: 1 }, `99 further lines left out; ${wider}`],
    [{ maxChars: 1_000 }, `40 of 100 lines left out; ${wider}`],
    [{ maxChars: 200 }, "93 of 100 lines left out"],
    [{ maxTokens: 50 }, "93 options and texts left out"],
    [{ maxTokens: 50, maxLines: 20 }, "12 options and texts left out; 81 further lines left out"],
    [{ maxTokens: 50, maxChars: 150 }, "92 options and texts left out; 3 of 8 lines left out"],
  ]
  for (const [options, note] of cases) {
    const { snapshot, truncated, stats } = await page.snapshot(options)
    const lines = snapshot.split("\n")
    assert.equal(lines.at(-1), `[truncated: ${note}]`, JSON.stringify(options))
    assert.deepEqual([truncated, stats.lines, stats.chars], [true, lines.length, snapshot.length])
    const { maxChars = 1_000, maxTokens = 250 } = options
    assert.ok(snapshot.length <= Math.min(maxChars, maxTokens * 4), `${snapshot.length}: ${JSON.stringify(options)}`)
  }
  assert.equal((await page.snapshot({ maxLines: 100 })).truncated, false)
})
