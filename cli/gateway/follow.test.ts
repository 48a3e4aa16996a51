import assert from "node:assert/strict"
import { test } from "node:test"
import { startProgram } from "../testing/run-program.ts"
import { type Answer, answerJson, startStandIn } from "../testing/stand-in-gateway.ts"

const item = (target: string, at: number) => ({
  at,
  lastAt: at,
  door: "cli",
  who: { kind: "cli", id: "", name: "" },
  action: "token.make",
  target,
  outcome: "ok",
  count: 1,
})

const page = (...targets: string[]) => {
  const items = targets.map((target, index) => item(target, Date.UTC(2026, 0, 1) + index))
  return answerJson({ items: items.toReversed(), since: 0 })
}
const stopping = answerJson({ error: { code: "not-ready", message: "it is stopping" } }, 503)
const cut: Answer = (_request, response) => void response.destroy()

test("what is followed goes on behind a restart of the gateway, which is told once, and shows nothing twice", async (context) => {
  const answers = [page("first"), page("first"), stopping, cut, page("first", "second")]
  const gateway = await startStandIn((request, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(request, response)
  })
  context.after(() => gateway.stop())
  const { child, printed, ended } = startProgram(["audit", "--follow"], { environment: gateway.environment })
  await printed("second")
  child.kill("SIGINT")
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0)
  assert.deepEqual(stdout.match(/first|second/g), ["first", "second"])
  assert.deepEqual(stderr.trim().split("\n"), [
    "the gateway is away; this goes on when it is back",
    "the gateway is back",
  ])
})

test("what is followed ends where the gateway refuses it, and does not begin where there is none", async (context) => {
  const refused = answerJson({ error: { code: "unauthorized", message: "The token is wrong" } }, 401)
  const answers = [page("first"), page("first"), refused]
  const gateway = await startStandIn((request, response) => answers.shift()?.(request, response))
  context.after(() => gateway.stop())
  const { ended } = startProgram(["audit", "--follow"], { environment: gateway.environment })
  const { code, stderr } = await ended
  assert.equal(code, 1)
  assert.match(stderr, /The token is wrong/)
  gateway.writeFile({ port: 1 })
  const none = await startProgram(["hooks", "tail"], { environment: gateway.environment }).ended
  assert.equal(none.code, 1)
  assert.doesNotMatch(none.stderr, /goes on when it is back/)
})
