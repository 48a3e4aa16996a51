import assert from "node:assert/strict"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemIds } from "../../kernel/index.ts"
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
