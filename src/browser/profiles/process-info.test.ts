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
  const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 1000"], { stdio: ["ignore", "pipe", "ignore"] })
  t.after(async () => {
    const ended = once(parent, "exit")
    parent.kill("SIGKILL")
    await ended
  })
  const [output] = (await once(parent.stdout, "data")) as [Buffer]
  const child = Number(String(output))
  while (isProcessAlive(child)) await new Promise((resolve) => setTimeout(resolve, 10))
  if (process.platform === "linux") assert.match(readFileSync(`/proc/${child}/stat`, "utf8"), /\) Z /)
  assert.equal(isProcessAlive(parent.pid as number), true)
  assert.match((await commandLineOf(process.pid)) ?? "", /node/)
})
