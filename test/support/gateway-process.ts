// The gateway as tests start it: the same composition as the shipped one, plus crash points.
// SVC_POLL_TIMING=<JSON> shortens the waits of the poll.
// SVC_TEST_PROGRAM is the file of the command line.
// SVC_CRASH_AT=<label> or <label>:<n> kills the process with SIGKILL the first or n-th time it gets there; so does such a
// text that comes as a message, which is sent back.
// SVC_FAILING_DISK is a file: while it is there the disk does not take what the store has written.
import { existsSync, fdatasync } from "node:fs"
import { flushCompileCache } from "node:module"
import { promisify } from "node:util"
import { runGateway } from "../../src/main.ts"

let label: string | undefined
let left = 1

function crashAt(point: string): void {
  const [name, count] = point.split(":")
  label = name
  left = Number(count ?? 1)
}

crashAt(process.env["SVC_CRASH_AT"] ?? "")
process.on("message", (point: string) => {
  crashAt(point)
  process.send?.(point)
})

const pollTiming = process.env["SVC_POLL_TIMING"]

const program = process.env["SVC_TEST_PROGRAM"]

const failing = process.env["SVC_FAILING_DISK"] ?? ""
const syncForReal = promisify(fdatasync)

async function sync(file: number): Promise<void> {
  if (existsSync(failing)) throw Object.assign(new Error("EIO"), { code: "EIO" })
  await syncForReal(file)
}

const code = await runGateway({
  ...(failing === "" ? {} : { sync }),
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
