import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../../test/support/page-modules.ts"

interface Written {
  text: string
  files: { id: string; name: string }[]
}
interface Writing {
  written: { current: Written }
  coming: { current: readonly File[] }
  write(change: { text: string }): void
  add(list: readonly File[], maxBytes: number): Promise<void>
  submit(): void
}
interface Modules {
  writingOf(chat: string): Writing
}

const browser = startBrowser()
const { writingOf } = await loadPageModules<Modules>("pages/chat/writing.ts")

test("what is sent while a file is on its way stays written, and goes with it when it is there", async () => {
  const { written, coming, write, add, submit } = writingOf("one")
  write({ text: "Look at this" })
  const added = add([new File(["x"], "plan.txt")], 1_000)
  await settled()
  submit()
  await settled()
  const [upload, ...others] = browser.asked.splice(0)
  assert.deepEqual([upload?.path, others.length, written.current.text], ["chat/files", 0, "Look at this"])
  upload?.answer({ id: "f1" })
  await added
  assert.equal(coming.current.length, 0)
  submit()
  await settled()
  const { text, files } = (browser.asked.pop()?.body ?? {}) as Partial<Written>
  assert.deepEqual([text, files], ["Look at this", [{ id: "f1", name: "plan.txt" }]])
})

test("a file that comes after another conversation was shown takes nothing from what was written since", async () => {
  const added = writingOf("two").add([new File(["x"], "plan.txt")], 1_000)
  await settled()
  writingOf("two").write({ text: "Written since" })
  browser.asked.pop()?.answer({ id: "f2" })
  await added
  const kept = JSON.parse(localStorage.getItem("svc-chat-text:two") ?? "{}") as Written
  assert.deepEqual([kept.text, kept.files.length], ["Written since", 1])
})

test("a file that is not taken keeps nothing from being sent", async () => {
  const { written, write, add, submit } = writingOf("three")
  write({ text: "Without it" })
  await add([new File(["too large"], "plan.txt")], 1)
  submit()
  await settled()
  assert.equal(written.current.text, "")
})
