// Tokens with scopes and the audit log through a whole gateway: command line, all three doors, a chat, a restart.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import { createWorld, hookToken } from "../support/world.ts"

interface Item {
  door: string
  who: { kind: string; name: string; id: string }
  action: string
  target: string
  outcome: string
  count: number
}

test("each token opens its own door, ends at once, and leaves its trace over a restart", async (context) => {
  const world = await createWorld(context, { config: { commands: { config: true }, browser: { enabled: true } } })
  await world.start()
  const environment = { SVC_STATE_DIR: world.stateFolder }
  const svc = async (...words: string[]) => {
    const result = await runProgram([...words, "--json"], { environment })
    assert.equal(result.code, 0, result.stderr + result.stdout)
    return JSON.parse(result.stdout) as Record<string, unknown>
  }
  const make = async (scope: string) =>
    (await svc("token", "create", "--scope", scope, "--name", scope))["token"] as string
  const tokens = { browser: await make("browser"), hooks: await make("hooks"), status: await make("status") }
  const { gateway } = world
  const get = async (url: string, token: string, method = "GET") => {
    const body = method === "POST" ? { body: '{"text": "rain", "mode": "next-heartbeat"}' } : {}
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    return (await fetch(url, { method, headers, ...body })).status
  }
  const doors = [
    [`${gateway.url}/api/status`, "GET", "status"],
    [`${gateway.url}/readyz`, "GET", "status"],
    [`${gateway.controlUrl}/profiles`, "GET", "browser"],
    [`${gateway.url}/hooks/wake`, "POST", "hooks"],
  ] as const
  for (const [url, method, needed] of doors) {
    for (const [scope, token] of Object.entries(tokens)) {
      assert.equal(await get(url, token, method), scope === needed ? 200 : 403, `${url} with ${scope}`)
    }
  }
  assert.equal(await get(`${gateway.url}/hooks/wake`, hookToken, "POST"), 200)
  assert.equal(await get(`${gateway.url}/hooks/wake`, gateway.token, "POST"), 401)
  assert.equal(await get(`${gateway.controlUrl}/profiles`, gateway.token), 200)
  await svc("token", "revoke", "browser")
  assert.equal(await get(`${gateway.controlUrl}/profiles`, tokens.browser), 401)
  world.say("/config set messages.responsePrefix hi")
  await world.reply(/messages\.responsePrefix/)

  assert.equal(await gateway.kill("SIGTERM"), 0)
  await world.start()
  assert.equal(await get(`${gateway.url}/api/status`, tokens.status), 200)
  assert.equal(await get(`${gateway.controlUrl}/profiles`, tokens.browser), 401)
  const { items } = (await svc("audit", "--since", "1h", "--limit", "500")) as unknown as { items: Item[] }
  const lines = items.map(({ door, who, action, target, outcome }) =>
    [door, who.kind, who.kind === "person" ? who.id : who.name, action, target, outcome].join(" "),
  )
  for (const expected of [
    "gateway cli svc token.create browser ok",
    "gateway cli svc token.revoke browser ok",
    "control token browser browser.use  ",
    "control token hooks scope.refused browser scope-missing",
    "control stranger 127.0.0.1 auth.failed  unauthorized",
    "hooks token hooks hook.deliver wake ok",
    "hooks token status scope.refused hooks scope-missing",
    "hooks hook-token hook token hook.deliver wake ok",
    "hooks stranger 127.0.0.1 auth.failed  unauthorized",
    "gateway token status status.use  ",
    `chat person chat:${world.ada.id} config.write messages.responsePrefix ok`,
    "config file configuration file config.change messages.responsePrefix ok",
  ]) {
    assert.ok(lines.includes(expected), `${expected}\nis not in\n${lines.join("\n")}`)
  }
  const { tokens: listed } = (await svc("token", "list")) as unknown as {
    tokens: { name: string; lastUsedAt: number }[]
  }
  assert.deepEqual(
    listed.map(({ name, lastUsedAt }) => [name, lastUsedAt > 0]),
    [
      ["hooks", true],
      ["status", true],
    ],
  )
  for (const token of Object.values(tokens)) assert.ok(!gateway.log().includes(token.slice(16)))
})
