// The gateway as tests start it: the same composition as the shipped one, plus crash points.
// SVC_POLL_TIMING=<JSON> shortens the waits of the poll.
// SVC_TEST_PROGRAM is the file of the command line.
// SVC_CRASH_AT=<label> or <label>:<n> kills the process with SIGKILL the first or n-th time it gets there.
import { flushCompileCache } from "node:module"
import { runGateway } from "../../src/main.ts"

const [label, count] = (process.env["SVC_CRASH_AT"] ?? "").split(":")
let left = Number(count ?? 1)

const pollTiming = process.env["SVC_POLL_TIMING"]

const program = process.env["SVC_TEST_PROGRAM"]

const code = await runGateway({
  ...(program === undefined ? {} : { program }),
  ...(pollTiming === undefined ? {} : { pollTiming: JSON.parse(pollTiming) as object }),
  crashPoint(reached) {
    if (reached !== label) return
    left -= 1
    if (left === 0) process.kill(process.pid, "SIGKILL")
  },
  onReady(ready) {
    process.send?.(ready)
    // At once, for the next start: most of these processes are killed, and only a clean end would write it.
    flushCompileCache()
  },
})
process.exit(code)
