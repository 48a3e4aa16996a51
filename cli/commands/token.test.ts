import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { runProgram, startProgram } from "../testing/run-program.ts"
import { answerJson, startStandIn } from "../testing/stand-in-gateway.ts"

async function ask(context: TestContext, words: readonly string[], answer: unknown) {
  const gateway = await startStandIn(answerJson(answer))
  context.after(() => gateway.stop())
  const result = await runProgram(words, { environment: { ...gateway.environment, TZ: "UTC" } })
  const { method, path, body } = gateway.requests[0] ?? {}
  return { ...result, request: { method, path, body } }
}

const at = Date.parse("2026-11-20T10:00:00Z")
const token = { id: "abcdefghjk", name: "desk", scopes: ["browser", "message"], createdAt: at }
const row = { ...token, lastUsedAt: null, expiresAt: null, expired: false }

test("token create asks for the scopes and prints the secret alone on stdout", async (context) => {
  const words = [
    "token",
    "create",
    "--scope",
    "browser,message",
    "--scope",
    "browser",
    "--name",
    "desk",
    "--expires",
    "30d",
  ]
  const result = await ask(context, words, { ok: true, ...row, expiresAt: at, token: "svct_abcdefghjk_x" })
  assert.deepEqual(result.request, {
    method: "POST",
    path: "/api/tokens",
    body: { name: "desk", scopes: ["browser", "message"], expires: "30d" },
  })
  assert.equal(result.stdout, "svct_abcdefghjk_x\n")
  assert.match(result.stderr, /desk \(abcdefghjk\) may: browser, message; until 2026-11-20 10:00:00/)
  assert.match(result.stderr, /only time/)
})

test("token create refuses an unknown scope and a missing name before it asks", async () => {
  const environment = { SVC_STATE_DIR: temporaryFolder() }
  const scope = await runProgram(["token", "create", "--scope", "root", "--name", "x"], { environment })
  assert.equal(scope.code, 2)
  assert.match(scope.stderr, /--scope must be one of browser, hooks, status, message, admin, not "root"/)
  const name = await runProgram(["token", "create", "--scope", "status"], { environment })
  assert.equal(name.code, 2)
  assert.match(name.stderr, /--name/)
})

test("token list shows what each may do and when it was used", async (context) => {
  const tokens = [row, { ...row, name: "old", lastUsedAt: at, expiresAt: at, expired: true }]
  const result = await ask(context, ["token", "list"], { ok: true, tokens })
  assert.match(result.stdout, /^Name +Scopes +Created +Last used +Expires +Id$/m)
  assert.match(result.stdout, /^desk +browser, message +2026-11-20 10:00:00 +never +never +abcdefghjk$/m)
  assert.match(result.stdout, /^old .* 2026-11-20 10:00:00 \(over\) /m)
})

test("token revoke names what ended, and an unknown one ends with an error", async (context) => {
  const done = await ask(context, ["token", "revoke", "desk"], { ok: true, ...row })
  assert.deepEqual(done.request, { method: "POST", path: "/api/tokens/revoke", body: { token: "desk" } })
  assert.equal(done.stdout, "revoked desk (abcdefghjk)\n")
})

test("without a gateway all of them say so", async () => {
  for (const words of [["token", "list"], ["audit"]]) {
    const result = await runProgram(words, { environment: { SVC_STATE_DIR: temporaryFolder() } })
    assert.equal(result.code, 1)
    assert.match(result.stderr, /No gateway is running.*\nhint: start it with: svc gateway/s)
  }
})

test("audit shows who did what, and asks for the time and the action", async (context) => {
  const item = { at, lastAt: at, door: "gateway", target: "desk", outcome: "ok", count: 1 }
  const items = [
    { ...item, who: { kind: "cli", id: "", name: "svc" }, action: "token.create" },
    {
      ...item,
      who: { kind: "token", id: "abcdefghjk", name: "desk\u001b[2J" },
      action: "browser.use",
      target: "",
      outcome: "",
      count: 40,
    },
    {
      ...item,
      who: { kind: "stranger", id: "10.0.0.9", name: "" },
      action: "auth.failed",
      outcome: "unauthorized",
      count: 7,
    },
  ]
  const answer = { ok: true, since: 0, until: at, items, more: true }
  const result = await ask(context, ["audit", "--since", "1h", "--action", "token"], answer)
  assert.equal(result.request.path, "/api/audit?since=1h&action=token&limit=50")
  assert.match(result.stdout, /gateway +svc +token\.create +desk +ok +1$/m)
  assert.match(result.stdout, /token desk.*\(abcdefghjk\) +browser\.use +- +- +40$/m)
  assert.match(result.stdout, /stranger 10\.0\.0\.9 +auth\.failed +desk +unauthorized +7$/m)
  assert.ok(!result.stdout.includes("\u001b"))
  assert.match(result.stderr, /there are more/)
})

test("audit --follow begins where was asked for, also when nothing has happened since", async (context) => {
  const row = { door: "gateway", who: { kind: "cli", id: "", name: "" }, target: "", outcome: "ok", count: 1 }
  const item = (id: number, at: number, action: string) => ({ ...row, id, at, lastAt: at, action })
  let looks = 0
  const gateway = await startStandIn((request, response) => {
    looks += 1
    const items = looks === 1 ? [] : [item(2, 5_001, "token.create"), item(1, 4_999, "token.revoke")]
    answerJson({ since: 5_000, until: 5_000, items, more: false, next: null })(request, response)
  })
  context.after(() => gateway.stop())
  const running = startProgram(["audit", "--since", "1m", "--follow"], { environment: gateway.environment })
  await running.printed("token.create")
  running.child.kill("SIGINT")
  assert.doesNotMatch((await running.ended).stdout, /token\.revoke/)
})
