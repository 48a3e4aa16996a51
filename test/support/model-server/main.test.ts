import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { test } from "node:test"
import { startModelServer } from "./index.ts"

const chat = (prompt: string) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "m", messages: [{ role: "user", content: prompt }] }),
})

test("runs as a process of its own, prints its port first, and ends when its parent goes away", async () => {
  const program = new URL("./main.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [...process.execArgv, program, "--script", "echo"], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const first = JSON.parse((await lines.next()).value as string) as { port: number; baseUrl: string }
    const response = await fetch(`${first.baseUrl}/chat/completions`, chat("are you there?"))
    const body = (await response.json()) as { choices: { message: { content: string } }[] }
    assert.equal(body.choices[0]?.message.content, "are you there?")
    const second = JSON.parse((await lines.next()).value as string) as { n: number; prompt: string }
    assert.deepEqual([second.n, second.prompt], [1, "are you there?"])
    const exited = once(child, "exit")
    child.stdin.end()
    assert.deepEqual(await exited, [0, null])
  } finally {
    child.kill("SIGKILL")
  }
})

test("a request that was awaited is told as soon as it comes, and one that never comes is named", async () => {
  const server = await startModelServer()
  try {
    const awaited = server.waitForRequest((request) => request.promptText() === "second")
    await (await fetch(`${server.baseUrl}/chat/completions`, chat("first"))).text()
    await (await fetch(`${server.baseUrl}/chat/completions`, chat("second"))).text()
    assert.equal((await awaited).n, 2)
    await assert.rejects(
      server.waitForRequest((request) => request.n === 3, { timeoutMs: 20 }),
      /2 others came/,
    )
  } finally {
    await server.stop()
  }
})
