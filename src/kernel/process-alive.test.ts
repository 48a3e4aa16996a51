import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { test } from "node:test"
import { isProcessAlive } from "./process-alive.ts"

const reasonToSkip = process.platform === "linux" ? false : "zombies are told apart on Linux only"

test("a process lives until it has ended", async () => {
  const child = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] })
  const pid = child.pid as number
  assert.ok(isProcessAlive(pid) && isProcessAlive(process.pid))
  child.stdin.end()
  await once(child, "exit")
  assert.equal(isProcessAlive(pid), false)
})

test("one that waits to be reaped lives no more", { skip: reasonToSkip }, async (context) => {
  // The shell has become a program that reaps nobody before its child is let go.
  const parent = spawn("sh", ["-c", "cat <&3 >/dev/null & echo $!; exec cat"], {
    stdio: ["pipe", "pipe", "ignore", "pipe"],
  })
  context.after(() => void parent.kill("SIGKILL"))
  const stdout = parent.stdout as NodeJS.ReadableStream
  const pid = Number(String((await once(stdout, "data"))[0]))
  parent.stdin?.write("it is cat by now")
  await once(stdout, "data")
  assert.ok(isProcessAlive(pid))
  const letGo = parent.stdio[3] as NodeJS.WritableStream
  letGo.end()
  while (isProcessAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
  process.kill(pid, 0)
})
