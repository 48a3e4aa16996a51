// The profile of the person's tabs, while it is changed or taken away.
import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import { AppError, createBackground, systemClock } from "../../kernel/index.ts"
import { Hub } from "./hub.ts"
import type { Relay } from "./index.ts"
import { RelayProfile } from "./profile.ts"

test("nothing is begun for a profile that was taken away while the extension was waited for", async () => {
  const hub = new Hub({ log: silentLog, patience: 60_000 })
  const relay = { hub, isPaired: true, open: async () => undefined } as unknown as Relay
  const background = createBackground(silentLog)
  const profile = new RelayProfile({
    name: "relay",
    color: () => "#000000",
    relay,
    clock: systemClock,
    log: silentLog,
    background,
  })
  const ensuring = profile.ensure()
  // It waits by now.
  await new Promise((resolve) => setImmediate(resolve))
  const gone = new AppError("profile-not-found", "The profile was removed")
  await profile.retire(gone)
  const link = { instance: "one", userAgent: "", version: "1", send: () => undefined }
  hub.connect(link)
  hub.receive(link, { type: "tabs", tabs: [], children: [] })
  await assert.rejects(ensuring, gone)
  assert.equal(profile.live, undefined)
})
