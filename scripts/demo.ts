// `npm run demo`: the main job from end to end on embedded defaults, with a timeline. Each step counts only when it was
// really observed: at the chat platform's emulator, in the shop's server, in the gateway's store.
// `--keep` leaves everything running for a person to go on with.
import { parseArgs } from "node:util"
import { DemoWorld } from "./demo/world.ts"
import { Timeline } from "./demo/timeline.ts"
import { steps } from "./demo/steps.ts"

const { values } = parseArgs({ options: { keep: { type: "boolean" }, help: { type: "boolean" } } })
if (values.help) {
  process.stdout.write(
    "npm run demo [-- --keep]\n\n--keep  leave everything running, and open the page of the gateway\n",
  )
  process.exit(0)
}

const timeline = new Timeline((text) => process.stdout.write(text))
const world = new DemoWorld()
// Ctrl-C must leave neither processes nor folders behind.
let interrupted = false
const interrupt = () => {
  if (interrupted) return
  interrupted = true
  void world.stop().then(() => process.exit(130))
}
process.on("SIGINT", interrupt)
process.on("SIGTERM", interrupt)

let failed = false
for (const step of steps) {
  if (!(await timeline.run(step.title, () => step.run(world)))) {
    failed = true
    break
  }
}

if (failed) {
  process.stdout.write(
    `\nNot everything was observed; the step marked with FAIL says what was missing.\n${world.logTail()}`,
  )
  await world.stop()
  process.exit(1)
}
if (values.keep) {
  process.stdout.write("\n")
  await world.openPage()
  process.stdout.write(world.invitation())
} else {
  const stopped = await timeline.run("everything ends cleanly", () => world.stopAndCheck())
  process.stdout.write(stopped ? "\nEvery step was observed.\n" : "\nThe end was not clean.\n")
  process.exit(stopped ? 0 : 1)
}
