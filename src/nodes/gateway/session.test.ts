import assert from "node:assert/strict"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { AppError, systemIds } from "../../kernel/index.ts"
import type { Link } from "../link/link.ts"
import { NodeSession } from "./session.ts"

test("a file that was whole just when its call was given up is not left behind", async () => {
  const folder = temporaryFolder()
  const session = new NodeSession({ id: "n", offers: { commands: [] }, folder, ids: systemIds, onOffers() {} }, 0)
  const [come, kept] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
  session.use({
    isOpen: true,
    send: () => undefined,
    hurry: () => undefined,
    refuse: () => undefined,
    // All of it has come, and the disk takes its time.
    async accept(_notice: unknown, path: string) {
      writeFileSync(path, "abc")
      come.resolve(path)
      await kept.promise
    },
  } as unknown as Link)
  const controller = new AbortController()
  const { signal } = controller
  const call = session.call({ command: "browser.proxy", params: {}, files: [], takes: ["path"], signal })
  const files = [{ file: 1, field: "path", name: "a.txt", bytes: 3 }]
  session.receive({ type: "result", id: 1, status: 200, body: {}, files })
  const path = await come.promise
  controller.abort()
  await assert.rejects(call, { code: "aborted" })
  kept.resolve()
  for (let tries = 0; tries < 500 && existsSync(path); tries += 1) await delay(2)
  assert.deepEqual(readdirSync(folder), [])
})

test("of an answer's files none is left behind when one of them fails", async () => {
  const folder = temporaryFolder()
  const session = new NodeSession({ id: "n", offers: { commands: [] }, folder, ids: systemIds, onOffers() {} }, 0)
  const late = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  session.use({
    isOpen: true,
    send: () => undefined,
    hurry: () => undefined,
    refuse: (file: number) => void (file === 3 && late.reject(new AppError("aborted", "Nobody waits for the file"))),
    async accept({ file }: { file: number }, path: string) {
      if (file === 1) writeFileSync(path, "abc")
      if (file === 2) throw new AppError("node-failed", "A file did not come as it was sent")
      if (file === 3) await late.promise.finally(over.resolve)
    },
  } as unknown as Link)
  const call = session.call({ command: "browser.proxy", params: {}, files: [], takes: ["path"] })
  const files = [1, 2, 3].map((file) => ({ file, field: "path", name: `${file}.txt`, bytes: 3 }))
  session.receive({ type: "result", id: 1, status: 200, body: {}, files })
  await assert.rejects(call, { code: "node-failed" })
  // What still comes is refused.
  await over.promise
  for (let tries = 0; tries < 500 && readdirSync(folder).length > 0; tries += 1) await delay(2)
  assert.deepEqual(readdirSync(folder), [])
})
