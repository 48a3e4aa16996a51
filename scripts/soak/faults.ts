// One kind of fault, many times, under load: what was acknowledged is counted afterwards.
import { reasonWithoutDisk } from "../../test/support/endurance/cut-disk.ts"
import { type Disturbance, endure } from "../../test/support/endurance/endure.ts"
import { Ends } from "./ends.ts"
import type { Row } from "./table.ts"

const names: Record<Disturbance, string> = {
  kill: "times `kill -9`",
  cut: "power cuts (what was not forced to the disk is gone)",
  stop: "clean stops",
  reload: "restarts inside the process for a changed configuration",
  "disk-error": "passing disk errors (full, or refusing every write), without a restart",
}

export async function countFaults(options: {
  disturbance: Disturbance
  times: number
  random: () => number
  say: (line: string) => void
}): Promise<Row> {
  const { disturbance, times, random, say } = options
  const what = `${times} ${names[disturbance]}, under load`
  const crashes = disturbance === "kill" || disturbance === "cut"
  const target = `0 lost, 0 doubled${crashes ? " beyond the sends that were cut" : ""}`
  const reason = disturbance === "cut" ? reasonWithoutDisk() : false
  if (reason !== false) return { what, target, measured: `not measured: ${reason}`, met: false }
  say(what)
  const onRound = (done: number) => {
    if (done % 10 === 0) say(`  ${done} of ${times}`)
  }
  try {
    const found = await Ends.run((ends) => endure(ends, { disturbance, times, random, onRound }))
    const { acknowledged, photos, lost, doubled, disordered, inDoubt, loop } = found
    const stretch = loop === undefined ? "" : `; longest stretch of the event loop ${loop.maxMs.toFixed(0)} ms`
    const doubt = crashes ? `, ${inDoubt} answers in doubt` : ""
    return {
      what,
      target,
      measured: `${acknowledged} acknowledged (${photos} with photos): ${lost.length} lost, ${doubled.length} doubled, ${disordered.length} chats out of order${doubt}${stretch}`,
      met: lost.length + doubled.length + disordered.length === 0,
      details: [...lost, ...doubled, ...disordered],
    }
  } catch (error) {
    return { what, target, measured: "did not come to its end", met: false, details: [String(error)] }
  }
}
