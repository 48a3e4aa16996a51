// The power is cut at random moments under load: what was not forced to the disk is gone. What was answered 2xx or
// confirmed to the platform is there and ran once, and no half-written photo is taken for one.
// SVC_POWER_CUTS=100 for the long form.
import assert from "node:assert/strict"
import { test } from "node:test"
import { reasonWithoutDisk } from "../support/endurance/cut-disk.ts"
import { endure } from "../support/endurance/endure.ts"
import { randomFrom } from "../support/endurance/load.ts"

const cuts = Number(process.env["SVC_POWER_CUTS"] ?? 2)
const seed = Number(process.env["SVC_TEST_SEED"] ?? Date.now() % 1_000_000)

test(
  `nothing acknowledged is lost or done twice by ${cuts} power cuts, and no photo is cut short (seed ${seed})`,
  { timeout: 60_000 + cuts * 10_000, skip: reasonWithoutDisk() },
  async (context) => {
    const found = await endure(context, { disturbance: "cut", times: cuts, random: randomFrom(seed), people: 6 })
    assert.ok(found.acknowledged > cuts && found.photos > 0, `only ${found.acknowledged}: hardly any load`)
    assert.deepEqual([found.lost, found.doubled, found.disordered], [[], [], []])
  },
)
