// The gateway as tests start it: the same composition as the shipped one, plus crash points.
// SVC_CRASH_AT=<label> or <label>:<n> kills the process with SIGKILL the first or n-th time it gets there.
import { runGateway } from "../../src/main.ts"

const [label, count] = (process.env["SVC_CRASH_AT"] ?? "").split(":")
let left = Number(count ?? 1)

const code = await runGateway({
  crashPoint(reached) {
    if (reached !== label) return
    left -= 1
    if (left === 0) process.kill(process.pid, "SIGKILL")
  },
  onReady: (ready) => process.send?.(ready),
})
process.exit(code)
