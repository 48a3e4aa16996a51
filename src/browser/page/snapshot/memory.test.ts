// What a tab remembers of snapshots: when the last one still holds, and what the next changes are told against.
import assert from "node:assert/strict"
import { test } from "node:test"
import { CdpError, type CdpSession } from "../../cdp/index.ts"
import type { World } from "../frames.ts"
import { type Remembered, SnapshotMemory } from "./memory.ts"

const url = "https://a.example/"
const texts = (...all: string[]) => all.map((text) => ({ text, depth: 0 }))
const taken = (parts: Partial<Remembered> = {}): Remembered => ({
  key: "full",
  url,
  title: "",
  lines: texts("- a"),
  folded: 0,
  changed: false,
  worlds: [],
  frames: 1,
  ...parts,
})
const tabOf = (frames: number, at = url) => ({ url: at, frames: { all: Array.from({ length: frames }) } })

/** A frame that answers whether it is unchanged. */
function worldThat(answer: () => Promise<unknown>, alive = true): World {
  const send = async () => ({ result: { value: await answer() } })
  return { key: "w", contextId: 1, session: { send } as unknown as CdpSession, alive, numbers: new Map() }
}

test("takes the last snapshot for true while its page, frames and options are the same and nobody has doubted it", () => {
  const memory = new SnapshotMemory()
  const last = taken({ worlds: [worldThat(async () => true)] })
  assert.equal(memory.current(tabOf(1), "full"), undefined)
  memory.keep(last)
  assert.equal(memory.current(tabOf(1), "full"), last)
  assert.equal(memory.current(tabOf(1), "efficient"), undefined)
  assert.equal(memory.current(tabOf(1, `${url}next`), "full"), undefined)
  assert.equal(memory.current(tabOf(2), "full"), undefined, "a frame has come")
  memory.doubt()
  assert.equal(memory.current(tabOf(1), "full"), undefined)
  memory.keep(last)
  memory.restore(last)
  assert.equal(memory.current(tabOf(1), "full"), undefined, "the page watches since another walk")
  memory.keep(taken({ worlds: [worldThat(async () => true), worldThat(async () => true, false)] }))
  assert.equal(memory.current(tabOf(1), "full"), undefined, "one of its documents is gone")
})

test("has nothing changed only where every frame says so", async () => {
  const { signal } = new AbortController()
  const unchanged = async (...answers: (() => Promise<unknown>)[]) => {
    const memory = new SnapshotMemory()
    const last = taken({ worlds: answers.map((answer) => worldThat(answer)) })
    memory.keep(last)
    return (await memory.unchanged(tabOf(1), "full", signal)) === last
  }
  const yes = async () => true
  assert.equal(await unchanged(yes, yes), true)
  assert.equal(await unchanged(yes, async () => false), false)
  assert.equal(
    await unchanged(yes, () => Promise.reject(new CdpError("Runtime.evaluate", "Cannot find context"))),
    false,
  )
})

test("ends a question to the frames with whoever asked it", async () => {
  const caller = new AbortController()
  const memory = new SnapshotMemory()
  memory.keep(
    taken({
      worlds: [
        worldThat(async () => {
          caller.abort(new Error("stopped"))
          throw caller.signal.reason
        }),
      ],
    }),
  )
  await assert.rejects(memory.unchanged(tabOf(1), "full", caller.signal), /stopped/)
})

test("has a change told that only a walk met which nobody was shown, once", () => {
  const memory = new SnapshotMemory()
  const shown = taken()
  memory.keep(shown)
  memory.keep(taken({ changed: true }))
  memory.restore(shown)
  memory.keep(taken())
  memory.restore(shown)
  const next = taken()
  memory.keep(next)
  assert.equal(next.changed, true)
  const after = taken()
  memory.keep(after)
  assert.equal(after.changed, false)
  const itself = taken({ changed: true })
  memory.keep(itself)
  memory.restore(itself)
  const later = taken()
  memory.keep(later)
  assert.equal(later.changed, false, "what was shown had told it")
})

test("tells changes against what was shown last with the same options, of the two kinds used last", () => {
  const memory = new SnapshotMemory()
  const show = (key: string, ...lines: string[]) => {
    const snapshot = taken({ key, lines: texts(...lines) })
    memory.show(snapshot)
    return snapshot
  }
  const full = show("full", "- a")
  const efficient = show("efficient", "- a")
  assert.deepEqual([memory.shownAs("full"), memory.shownAs("efficient")], [full, efficient])
  const later = show("full", "- b")
  assert.deepEqual([memory.shownAs("full"), memory.shownEarlier("full")], [later, full])
  const again = show("full", "- b")
  assert.equal(memory.shownAs("full"), again)
  assert.equal(memory.shownEarlier("full"), full, "one that looked the same is none before")
  show("flat", "- a")
  assert.equal(memory.shownAs("efficient"), undefined, "the kind used longest ago")
  assert.equal(memory.shownAs("full"), again)
  show("efficient", "- a")
  assert.equal(memory.shownEarlier("full"), undefined, "goes with its kind")
  const last = taken({ key: "last" })
  memory.keep(last)
  assert.equal(memory.shownAs("last"), last)
})

test("keeps of a long page only what was shown last of all", () => {
  const memory = new SnapshotMemory()
  const long = (count: number) => Array.from({ length: count }, (_, index) => `- line ${index}`)
  memory.show(taken({ lines: texts(...long(2_000)) }))
  assert.equal(memory.shownAs("full")?.lines.length, 2_000)
  const longer = taken({ lines: texts(...long(2_001)) })
  memory.show(longer)
  assert.equal(memory.shownAs("full"), undefined)
  memory.keep(longer)
  assert.equal(memory.shownAs("full"), longer)
})

test("another page with the same lines is another snapshot", () => {
  const memory = new SnapshotMemory()
  const before = taken()
  memory.show(before)
  memory.show(taken({ url: `${url}next` }))
  assert.equal(memory.shownEarlier("full"), before)
})
