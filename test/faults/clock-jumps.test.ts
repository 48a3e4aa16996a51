// A gateway whose wall clock is set while it works (libfaketime; monotonic time goes on): it answers as before, what waits
// keeps its time, nothing is given up, and a start with another time changes nothing of that.
import assert from "node:assert/strict"
import { existsSync, globSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../support/temporary.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { createWorld, until } from "../support/world.ts"

const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1")
const skip =
  library === undefined || !existsSync(library)
    ? "libfaketime is not installed (Debian: apt-get install faketime)"
    : false

const jumps = ["-30d", "+10y"]

test(
  "a wall clock that jumps by hours, days and years stops no chat and gives nothing up",
  { skip },
  async (context) => {
    const world = await createWorld(context, { config: { agents: { defaults: { timeoutSeconds: 20 } } } })
    world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
    const offset = join(temporaryFolder(), "offset")
    const set = (jump: string) => writeFileSync(offset, `${jump}\n`)
    set("+0d")
    const environment = {
      LD_PRELOAD: library as string,
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    }
    await world.start({ environment })
    let sent = world.say("hello")
    await world.reply("echo hello", { after: sent })
    const followed = () => world.gateway.log().split("wall clock was set").length
    for (const jump of jumps) {
      // It waits for a second try while the clock jumps, and there is more behind it.
      world.emulator.control.fault({ kind: "429", method: "sendMessage", retryAfter: 1 })
      sent = world.say(`before ${jump}`)
      await until("the send was refused", () =>
        world.rows("select 1 from outbox where state = 'new' and attempts > 0").length > 0 ? true : undefined,
      )
      const before = followed()
      set(jump)
      world.say(`after ${jump}`)
      await until("the jump was noticed", () => (followed() > before ? true : undefined))
      await world.reply(`echo before ${jump}`, { after: sent })
      await world.reply(`echo after ${jump}`, { after: sent })
    }
    // A retry that was put off in the far future's time must not wait for it in a process of today.
    set("+11y")
    await until("the jump was noticed", () => (followed() > jumps.length + 1 ? true : undefined))
    world.emulator.control.fault({ kind: "429", method: "sendMessage", retryAfter: 1 })
    sent = world.say("last")
    await until("the send was refused", () =>
      world.rows("select 1 from outbox where state = 'new' and attempts > 0").length > 0 ? true : undefined,
    )
    await world.gateway.kill("SIGKILL")
    set("-30d")
    await world.start({ environment })
    await world.reply("echo last", { after: sent })
    const bad =
      "select state from outbox where state in ('dead', 'uncertain') union select state from job where state = 'dead'"
    assert.deepEqual(world.rows(bad), [])
  },
)
