import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createConfigHolder } from "../config/index.ts"
import type { Core } from "./core.ts"
import { followConfig } from "./reload.ts"

function start(context: TestContext, mode: string) {
  const folder = temporaryFolder()
  const path = join(folder, "svc.json")
  const write = (more: object) => writeFileSync(path, JSON.stringify({ gateway: { reload: { mode } }, ...more }))
  write({})
  const holder = createConfigHolder({ path, env: { SVC_STATE_DIR: folder }, stateFolder: folder, log: silentLog })
  context.after(() => holder.stop())
  const done: string[] = []
  const work = (name: string) => async () => void done.push(name)
  const background = { run: (_name: string, run: () => Promise<void>) => void run() }
  const core = { holder, begun: holder.snapshot(), config: () => holder.current(), log: silentLog, background }
  const follow = () =>
    followConfig(core as unknown as Core, {
      restartHeartbeat: () => void done.push("heartbeat"),
      restartSchedules: work("schedules"),
      reconfigureBrowser: work("browser"),
      updateChannels: work("channels"),
      restartMailWatch: work("mail watch"),
      restartGateway: async (reason) => done.push(reason) > 0,
      restartNotNeeded: () => void done.push("no restart"),
    })
  return { holder, write, follow, done, folder }
}

test("what has changed while the gateway started is taken up once it has", (context) => {
  const { holder, write, follow, done, folder } = start(context, "hybrid")
  write({ browser: { enabled: false } })
  holder.reload()
  follow()
  assert.deepEqual(done.splice(0), ["browser"])
  holder.reload()
  assert.deepEqual(done, [])
  writeFileSync(join(folder, ".env"), "KEY=value\n", { mode: 0o600 })
  holder.reload()
  assert.deepEqual(done.splice(0), ["env changed"])
  follow()
  assert.deepEqual(done, ["env changed"])
})

test("nothing is done where nothing has changed while the gateway started", (context) => {
  const { follow, done } = start(context, "restart")
  follow()
  assert.deepEqual(done, [])
})
