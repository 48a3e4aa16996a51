import assert from "node:assert/strict"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createConfigHolder } from "../config/index.ts"
import type { Core } from "./core.ts"
import { createRestarts } from "./restarts.ts"

test("what keeps a gateway from coming back is told, whatever it is, and forgotten when it is mended", async (context) => {
  const folder = temporaryFolder()
  const place = join(folder, "place")
  const path = join(place, "svc.json")
  const write = () => {
    mkdirSync(place)
    writeFileSync(path, JSON.stringify({ browser: { enabled: false } }))
  }
  write()
  const env = { SVC_STATE_DIR: folder }
  const holder = createConfigHolder({ path, env, stateFolder: folder, log: silentLog })
  context.after(() => holder.stop())
  const begun: string[] = []
  const core = { holder, log: silentLog, environment: { configPath: path, variables: env, stateFolder: folder } }
  // Its own port counts as free, so that no other is needed.
  const ports = () => ({ gateway: holder.current().gateway.port, control: 0 })
  const restarts = createRestarts({ core: core as unknown as Core, ports, begin: (reason) => void begun.push(reason) })
  const inItsPlace = () => {
    mkdirSync(place)
    mkdirSync(path)
  }
  for (const spoil of [() => symlinkSync(place, place), inItsPlace]) {
    rmSync(place, { recursive: true })
    spoil()
    assert.equal(await restarts.restart("a change"), false)
    assert.match(restarts.problem()?.problem ?? "", /the next start, which would fail: ./)
    rmSync(place, { recursive: true })
    write()
  }
  assert.deepEqual(begun, [])
  assert.equal(await restarts.restart("a mended file"), true)
  assert.deepEqual(begun, ["a mended file"])
  assert.equal(restarts.problem(), undefined)
})
