// Webhooks through a whole gateway in a process of its own: results from real runs, and a kill around the commit.
import assert from "node:assert/strict"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { type IncomingMessage, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { sign } from "@octokit/webhooks-methods"
import { Webhook } from "standardwebhooks"
import { createIssuer } from "../../test/support/google/issuer.ts"
import { startGateway } from "../../test/support/gateway.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import type { HookDeliveryPage } from "./contract.ts"

const token = "hook-token-of-this-test-0123456789"
const secret = "github-secret-of-this-test-0123"
const callbackSecret = `whsec_${Buffer.from("callback-secret-0123456789").toString("base64")}`
const authorization = { authorization: `Bearer ${token}` }

const config = (hooks: Record<string, unknown>) => ({
  browser: { enabled: false },
  hooks: { enabled: true, token, ...hooks },
})

async function receiver(context: TestContext) {
  const first = Promise.withResolvers<{ headers: IncomingMessage["headers"]; body: string }>()
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      response.end()
      first.resolve({ headers: request.headers, body })
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, first: first.promise }
}

test("a run is answered to who waits for it, can be asked for, and is posted to the callback", async (context) => {
  const target = await receiver(context)
  const mapping = {
    id: "cb",
    match: { path: "cb" },
    messageTemplate: "say {{x}}",
    callbackUrl: target.url,
    callbackSecret,
  }
  const gateway = await startGateway(context, { config: config({ mappings: [mapping], callbackAllowPrivate: true }) })
  const waited = await fetch(`${gateway.url}/hooks/agent?wait=60`, {
    method: "POST",
    headers: authorization,
    body: '{"message":"hello"}',
  })
  assert.equal(waited.status, 200)
  const run = (await waited.json()) as { runId: string; state: string; reply: string }
  assert.equal(run.state, "done")
  assert.ok(run.reply.length > 0)
  const asked = await fetch(`${gateway.url}/hooks/runs/${run.runId}`, { headers: authorization })
  assert.equal(((await asked.json()) as { reply: string }).reply, run.reply)
  await fetch(`${gateway.url}/hooks/cb`, { method: "POST", headers: authorization, body: '{"x":"this"}' })
  const { headers, body } = await target.first
  const result = new Webhook(callbackSecret).verify(body, headers as Record<string, string>)
  assert.partialDeepStrictEqual(result, { type: "hook.run.finished", data: { mapping: "cb" } })
  const page = await gateway.call<HookDeliveryPage>("GET", "/hooks?mapping=cb")
  assert.equal(page.items.length, 1)
  assert.equal((await fetch(`${gateway.url}/hooks`, { headers: authorization })).status, 401)
})

for (const crashAt of ["ingest.beforeCommit", "ingest.committed"]) {
  test(`a kill at ${crashAt} leaves all of a delivery or nothing, and the sender's repeat makes it one run`, async (context) => {
    const stateFolder = temporaryFolder()
    const mappings = [{ preset: "github", verify: { scheme: "github", secret } }]
    const body = JSON.stringify({ action: "created", repository: { full_name: "a/b" }, sender: { login: "ann" } })
    const headers = { "x-github-event": "star", "x-hub-signature-256": await sign(secret, body) }
    const dying = await startGateway(context, { stateFolder, config: config({ mappings }), crashAt })
    await assert.rejects(fetch(`${dying.url}/hooks/github`, { method: "POST", headers, body }))
    await dying.ended
    const gateway = await startGateway(context, { stateFolder })
    const kept = await gateway.call<HookDeliveryPage>("GET", "/api/hooks")
    assert.equal(kept.items.length, crashAt === "ingest.committed" ? 1 : 0)
    const answer = await fetch(`${gateway.url}/hooks/github`, { method: "POST", headers, body })
    const { runId, duplicate } = (await answer.json()) as { runId: string; duplicate?: boolean }
    assert.equal(answer.status, crashAt === "ingest.committed" ? 200 : 202)
    assert.equal(duplicate ?? false, crashAt === "ingest.committed")
    const runs = await gateway.call<{ items: { runId: string; kind: string }[] }>("GET", "/api/runs")
    assert.deepEqual(
      runs.items.filter((run) => run.kind === "turn").map((run) => run.runId),
      [runId],
    )
  })
}

test("the file of public keys is found beside the configuration, wherever the gateway was started", async (context) => {
  const stateFolder = temporaryFolder()
  const issuer = await createIssuer()
  writeFileSync(join(stateFolder, "keys.json"), JSON.stringify(issuer.keySet()))
  const [audience, email] = ["https://hooks.example.com/pushed", "push@project.iam.gserviceaccount.com"]
  const verify = { scheme: "google-oidc", audience, email, keySetFile: "keys.json" }
  const mappings = [{ match: { path: "pushed" }, messageTemplate: "look", deliver: false, verify }]
  const gateway = await startGateway(context, { stateFolder, config: config({ mappings }) })
  const push = async (signed: string) =>
    (
      await fetch(`${gateway.url}/hooks/pushed`, {
        method: "POST",
        headers: { authorization: `Bearer ${signed}` },
        body: "{}",
      })
    ).status
  assert.equal(await push(await issuer.sign({ aud: audience, email })), 202)
  const stranger = await createIssuer()
  assert.equal(await push(await stranger.sign({ aud: audience, email })), 401)
})

test("the right token learns that webhooks are off or elsewhere, and no other does", async (context) => {
  const gateway = await startGateway(context, { config: config({ path: "/in" }) })
  const post = (path: string, secret: string) =>
    fetch(`${gateway.url}${path}`, { method: "POST", headers: { authorization: `Bearer ${secret}` }, body: "{}" })
  const moved = await post("/hooks/agent", token)
  assert.equal(moved.status, 404)
  assert.match(await moved.text(), /Webhooks are under \/in here/)
  assert.equal((await post("/hooks/agent", "a-wrong-token-of-this-test")).status, 401)
  assert.equal((await post("/api/status", token)).status, 401)
})
