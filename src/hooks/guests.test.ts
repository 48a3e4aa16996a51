// Callers with tokens of their own beside the hook token, and what the audit log is told.
import assert from "node:assert/strict"
import { after, afterEach, before, test } from "node:test"
import { sign } from "@octokit/webhooks-methods"
import { silentLog } from "../../test/support/store.ts"
import { AppError, systemClock } from "../kernel/index.ts"
import { hookToken, startHooks } from "./hooks.fixture.ts"
import { createVerifier } from "./verify/index.ts"

const guest = "svct_guest_0123456789"
const second = "svct_second_0123456789"
const other = "svct_other_0123456789"
const stranger = "svct_nobody_0123456789"
const secret = "mapping-secret-0123456789"
const told: unknown[] = []

let server: Awaited<ReturnType<typeof startHooks>>
before(async () => {
  const verifier = createVerifier({ clock: systemClock, log: silentLog })
  server = await startHooks(
    {
      verify: (request, settings) => verifier.verifySignature(request, settings),
      guests: {
        admit(token) {
          if (token === guest) return { id: "g1", name: "ci" }
          if (token === second) return { id: "g2", name: "backup" }
          if (token === other) throw new AppError("scope-missing", "The token other has not the scope hooks")
          return undefined
        },
      },
      audit: {
        delivered: (delivery) => void told.push(delivery),
        refused: (address) => void told.push({ refused: address }),
      },
    },
    {
      mappings: [
        { id: "signed", match: { path: "signed" }, messageTemplate: "m", verify: { scheme: "github", secret } },
        { id: "plain", match: { path: "plain" }, messageTemplate: "m" },
      ],
    },
  )
})
after(() => server.stop())
afterEach(() => void told.splice(0))

const post = (path: string, token?: string, headers: Record<string, string> = {}, body: unknown = { text: "a" }) =>
  server.send(`/hooks/${path}`, {
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    body: JSON.stringify(body),
  })

test("a token with the scope opens wake, agent, results and mappings without a signature", async () => {
  assert.equal((await post("wake", guest)).status, 200)
  const run = await post("agent", guest, {}, { message: "work" })
  assert.equal(run.status, 202)
  const result = await server.send(`/hooks/runs/${run.json.runId}`, {
    method: "GET",
    headers: { authorization: `Bearer ${guest}` },
  })
  assert.equal(result.status, 200)
  assert.equal((await post("plain", undefined, { "x-svc-token": guest })).status, 202)
  const by = { id: "g1", name: "ci" }
  assert.deepEqual(told, [
    { by, mapping: "wake", outcome: "ok" },
    { by, mapping: "agent", outcome: "ok" },
    { by, mapping: "plain", outcome: "ok" },
  ])
})

test("it is told the results of its own runs and of no others; the hook token of all", async () => {
  const read = async (runId: unknown, token: string) =>
    (await server.send(`/hooks/runs/${runId}`, { method: "GET", headers: { authorization: `Bearer ${token}` } })).status
  const mine = (await post("agent", guest, {}, { message: "mine" })).json.runId
  const mapped = (await post("plain", guest)).json.runId
  const houses = (await post("agent", hookToken, {}, { message: "the house's" })).json.runId
  const askedBy = async (token: string) => await Promise.all([mine, mapped, houses].map((runId) => read(runId, token)))
  assert.deepEqual(await askedBy(guest), [200, 200, 404])
  assert.deepEqual(await askedBy(second), [404, 404, 404])
  assert.deepEqual(await askedBy(hookToken), [200, 200, 200])
})

test("it stands in for no signature, and is not read from an address", async () => {
  assert.equal((await post("signed", guest)).status, 401)
  assert.equal((await post(`wake?token=${guest}`)).status, 401)
  const body = JSON.stringify({ text: "a" })
  const signature = { "x-hub-signature-256": await sign(secret, body) }
  assert.equal((await post("signed", guest, signature)).status, 202)
  assert.deepEqual(told, [
    { refused: "127.0.0.1" },
    { refused: "127.0.0.1" },
    { by: "signature", mapping: "signed", outcome: "ok" },
  ])
})

test("a token without the scope is told so, an unknown one nothing, and the hook token opens what it did", async () => {
  const refused = await post("wake", other)
  assert.equal(refused.status, 403)
  assert.equal(refused.json.error.code, "scope-missing")
  assert.equal((await post("wake", stranger)).status, 401)
  assert.equal((await post("signed", hookToken)).status, 202)
  assert.equal((await post("nowhere", hookToken)).status, 404)
  assert.deepEqual(told, [
    { refused: "127.0.0.1" },
    { by: "hook-token", mapping: "signed", outcome: "ok" },
    { by: "hook-token", mapping: "", outcome: "not-found" },
  ])
})

test("the deliveries of one token never meet those of another", async () => {
  const key = { "idempotency-key": "one" }
  const [first, second, third] = [
    await post("agent", guest, key, { message: "a" }),
    await post("agent", hookToken, key, { message: "a" }),
    await post("agent", guest, key, { message: "a" }),
  ]
  assert.notEqual(first.json.runId, second.json.runId)
  assert.equal(third.json.runId, first.json.runId)
  assert.equal(third.json.duplicate, true)
})
