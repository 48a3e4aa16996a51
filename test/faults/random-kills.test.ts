// Again and again kill -9 at a random moment under load (`npm run soak -- --kills 200` for more). What was answered 2xx or
// confirmed to the platform is there and ran once, no reply comes twice, one whose call was cut by a kill is asked about, and the order of every chat holds.
import assert from "node:assert/strict"
import { test } from "node:test"
import { endure } from "../support/endurance/endure.ts"
import { randomFrom } from "../support/endurance/load.ts"

/** Two state folders at once: a killed gateway's neighbour keeps the other core busy. */
const folders = 2
const killsPerFolder = Number(process.env["SVC_TEST_KILLS"] ?? (process.env["SVC_LONG_TESTS"] === undefined ? 3 : 12))
const seed = Number(process.env["SVC_TEST_SEED"] ?? Date.now() % 1_000_000)

test(
  `nothing acknowledged is lost or done twice by ${folders * killsPerFolder} kills at random moments (seed ${seed})`,
  { timeout: 480_000 },
  async (context) => {
    const lives = Array.from({ length: folders }, async (_, index) => {
      const found = await endure(context, {
        disturbance: "kill",
        times: killsPerFolder,
        random: randomFrom(seed + index),
      })
      assert.ok(found.acknowledged > killsPerFolder / 5, `only ${found.acknowledged} were accepted: hardly any load`)
      assert.deepEqual([found.lost, found.doubled, found.disordered], [[], [], []])
    })
    await Promise.all(lives)
  },
)
