import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { commandLineOf, worksIn } from "./process-info.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"

test("knows a browser's folder in the command line of each system, and no longer one for it", () => {
  assert.ok(
    worksIn("/usr/bin/chromium --user-data-dir=/s/browser/a/user-data --headless=new", "/s/browser/a/user-data"),
  )
  assert.ok(worksIn("/usr/bin/chromium --user-data-dir=/s/my files/a", "/s/my files/a"))
  const folder = "C:\\Users\\Ada L\\.svc\\browser\\a\\user-data"
  assert.ok(worksIn(`"C:\\chrome.exe" --x "--user-data-dir=${folder}" about:blank`, folder))
  assert.equal(worksIn("/usr/bin/chromium --user-data-dir=/s/browser/a2 x", "/s/browser/a"), false)
  assert.equal(worksIn("/usr/bin/chromium --user-data-dir=/s/browser/a/sub x", "/s/browser/a"), false)
})

test("tells a living process from a zombie, and reads its command line", async (t) => {
  // The program that takes the shell's place never asks after the shell's child.
  const script = "exec 3<&0; cat <&3 & echo $!; exec sleep 1000"
  const parent = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] })
  t.after(async () => {
    const ended = once(parent, "exit")
    parent.kill("SIGKILL")
    await ended
  })
  const [output] = (await once(parent.stdout, "data")) as [Buffer]
  const child = Number(String(output))
  // The shell itself would ask: the child lives until the shell is gone.
  while (!/sleep/.test((await commandLineOf(parent.pid as number))?.split(" ")[0] ?? "")) await pause()
  parent.stdin.end()
  while (isProcessAlive(child)) await pause()
  if (process.platform === "linux") assert.match(readFileSync(`/proc/${child}/stat`, "utf8"), /\) Z /)
  assert.equal(isProcessAlive(parent.pid as number), true)
  assert.match((await commandLineOf(process.pid)) ?? "", /node/)
})

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
