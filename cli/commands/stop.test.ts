import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { test, type TestContext } from "node:test"
import { runProgram, startProgram } from "../testing/run-program.ts"
import { answerJson, startStandIn } from "../testing/stand-in-gateway.ts"

/** A process in the gateway's place, and a server that speaks for it. */
async function startVictim(context: TestContext, onStop: (victim: ReturnType<typeof spawn>) => void) {
  const victim = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log('up')"])
  await once(victim.stdout, "data")
  const gateway = await startStandIn((request, response) => {
    onStop(victim)
    answerJson({ ok: true })(request, response)
  })
  gateway.writeFile({ pid: victim.pid })
  context.after(async () => {
    victim.kill("SIGKILL")
    await gateway.stop()
  })
  return { victim, gateway }
}

test("stop asks the gateway and waits until its process has ended", async (context) => {
  const { victim, gateway } = await startVictim(context, (process) => process.kill())
  const result = await runProgram(["stop"], { environment: gateway.environment })
  assert.deepEqual(result, { code: 0, stdout: `stopped the gateway (process ${victim.pid})\n`, stderr: "" })
  assert.deepEqual(
    gateway.requests.map(({ method, path }) => `${method} ${path}`),
    ["POST /api/stop"],
  )
})

test("stop tells that it waits, and gives up with a failure when the process goes on", async (context) => {
  const { victim, gateway } = await startVictim(context, () => undefined)
  const result = await runProgram(["stop", "--timeout", "2"], { environment: gateway.environment })
  assert.equal(result.code, 1)
  assert.match(result.stderr, new RegExp(`^waiting for the gateway \\(process ${victim.pid}\\)`))
  assert.match(result.stderr, /error: .* has not ended after 2 s\nhint: .*\n$/)
})

test("stop succeeds when the gateway dies before it can answer", async (context) => {
  const { victim, gateway } = await startVictim(context, () => undefined)
  const silent = await startStandIn((_request, response) => {
    victim.kill("SIGKILL")
    victim.once("exit", () => response.destroy())
  })
  context.after(() => silent.stop())
  gateway.writeFile({ pid: victim.pid, port: silent.port })
  const result = await runProgram(["stop", "--json"], { environment: gateway.environment })
  assert.deepEqual([result.code, result.stderr], [0, ""], result.stdout)
})

test("Ctrl-C ends the waiting, not the gateway", async (context) => {
  const { victim, gateway } = await startVictim(context, () => undefined)
  const running = startProgram(["stop"], { environment: gateway.environment })
  await running.printed("waiting", "stderr")
  running.child.kill("SIGINT")
  assert.equal((await running.ended).code, 130)
  assert.equal(victim.exitCode, null)
})
