import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { startProgram } from "../testing/run-program.ts"
import { type Answer, answerJson, startStandIn } from "../testing/stand-in-gateway.ts"

const accepted = answerJson({ runId: "run-1", session: "agent:main:it's mine" })

/** Presses Ctrl-C as soon as the gateway is asked what is not answered; says how the program ended. */
async function interrupt(context: TestContext, answers: Record<string, Answer>) {
  const waits = Promise.withResolvers<void>()
  const gateway = await startStandIn((request, response) => {
    const answer = answers[`${request.method} ${request.path.split("?", 1).join()}`]
    if (answer) answer(request, response)
    else waits.resolve()
  })
  context.after(() => gateway.stop())
  const running = startProgram(["agent", "hello"], { environment: gateway.environment })
  await waits.promise
  running.child.kill("SIGINT")
  return await running.ended
}

test("Ctrl-C while the run is waited for stops it, and says what became of it", async (context) => {
  for (const [state, says] of [
    ["running", /^\nstopped\n$/],
    ["done", /^\nit had ended already: (npx )?svc runs show run-1\n$/],
  ] as const) {
    const stop = answerJson({ runId: "run-1", state, messages: [] })
    const { code, stderr } = await interrupt(context, {
      "POST /api/agent": accepted,
      "POST /api/agent/run-1/stop": stop,
    })
    assert.equal(code, 130)
    assert.match(stderr, says)
  }
})

test("Ctrl-C says that the run may go on where it could not be stopped", async (context) => {
  const stop: Answer = (_request, response) => response.destroy()
  const { code, stderr } = await interrupt(context, { "POST /api/agent": accepted, "POST /api/agent/run-1/stop": stop })
  assert.equal(code, 130)
  assert.match(stderr, /^\nthe run may go on, as it could not be stopped: The gateway /)
  assert.match(stderr, /\nstop it with: .*agent --session 'agent:main:it'\\''s mine' \/stop\n$/)
})

test("Ctrl-C before the message was answered for says that it may have been taken", async (context) => {
  const { code, stderr } = await interrupt(context, {})
  assert.equal(code, 130)
  assert.match(stderr, /^stopped; if the message had arrived by then, its run goes on: (npx )?svc runs list\n$/)
})
