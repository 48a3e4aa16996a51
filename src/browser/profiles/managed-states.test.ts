// What a managed profile says of itself after a state that passes, without a browser.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createBackground } from "../../kernel/index.ts"
import { silentLog } from "../../../test/support/store.ts"
import { ManagedProfile, type Starter } from "./managed.ts"

test("has not failed to start where somebody has stopped it meanwhile", async () => {
  const asked = Promise.withResolvers<void>()
  const starter: Starter = {
    headless: true,
    userDataFolder: "/nowhere/user-data",
    takeUp: async () => undefined,
    launch: ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error))
        asked.resolve()
      }),
    forget: async () => undefined,
    clearLock: async () => undefined,
  }
  const profile = new ManagedProfile(
    {
      name: "managed",
      color: () => "#FF4500",
      folder: "/nowhere",
      cdpPort: undefined,
      noSandbox: false,
      log: silentLog,
      background: createBackground(silentLog),
      after: undefined,
    },
    starter,
  )
  const refused = assert.rejects(profile.ensure(), { code: "aborted" })
  await asked.promise
  await profile.stop()
  await refused
  assert.deepEqual([profile.hasFailedToStart, profile.state().lastError], [false, null])
})
