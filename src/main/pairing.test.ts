import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createPairing } from "../channels/index.ts"
import { createConfigHolder, loadConfigOrThrow, readEnvironment } from "../config/index.ts"
import { systemClock, systemIds } from "../kernel/index.ts"
import type { Core } from "./core.ts"
import { createPairingActions } from "./pairing.ts"

test("an owner is added behind those of the file, also where an older configuration is in use", async (context) => {
  const folder = temporaryFolder()
  const path = join(folder, "svc.json")
  const write = (allowFrom: string[]) =>
    writeFileSync(path, JSON.stringify({ gateway: { reload: { mode: "off" } }, channels: { chatapp: { allowFrom } } }))
  write(["1"])
  const environment = readEnvironment({ SVC_STATE_DIR: folder })
  const holder = createConfigHolder({ path, env: environment.variables, stateFolder: folder, log: silentLog })
  context.after(() => holder.stop())
  const store = await testStore(context)
  const pairing = createPairing({ store, clock: systemClock, ids: systemIds, log: silentLog })
  pairing.attach("chatapp", { tell: () => [], admit: () => false })
  const core = { environment, holder, config: () => holder.current(), store, log: silentLog }
  const { approvePairing } = createPairingActions(core as unknown as Core, pairing)
  const approve = async (senderId: string) => {
    const book = pairing.book("chatapp", "default")
    const asked = book.ask({ senderId, chatId: senderId, label: senderId }, systemClock.now())
    await store.write(async (write_) => book.flush(write_))
    book.settle()
    assert.ok(asked.kind === "issued")
    await approvePairing({ channel: "chatapp", code: asked.code, owner: true })
  }
  const owners = () => loadConfigOrThrow({ path, env: environment.variables }).config.channels.chatapp.allowFrom
  await approve("2")
  await approve("3")
  assert.deepEqual(owners(), ["1", "2", "3"])
  // Somebody else has written it since.
  write(["1", "2", "3", "4"])
  await approve("4")
  await approve("5")
  assert.deepEqual(owners(), ["1", "2", "3", "4", "5"])
})
