import assert from "node:assert/strict"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { hookToken, startHooks } from "./hooks.fixture.ts"

const body = JSON.stringify({ text: "hello" })

describe("the secret of a webhook", () => {
  let server: Awaited<ReturnType<typeof startHooks>>
  before(async () => (server = await startHooks()))
  after(() => server.stop())

  const wake = (headers: Record<string, string>, path = "/hooks/wake") => server.send(path, { headers, body })

  test("is accepted as a bearer token, whatever the case of the scheme", async () => {
    assert.equal((await wake({ authorization: `Bearer ${hookToken}` })).status, 200)
    assert.equal((await wake({ authorization: `bEARER  ${hookToken}` })).status, 200)
  })

  test("is accepted in x-svc-token", async () => {
    assert.equal((await wake({ "x-svc-token": hookToken })).status, 200)
    assert.equal((await wake({ authorization: "Basic dXNlcjpwYXNz", "x-svc-token": hookToken })).status, 200)
  })

  test("is needed: missing, empty and wrong ones get 401 with the error body", async () => {
    const refused: Record<string, string>[] = [
      {},
      { authorization: "Bearer " },
      { authorization: hookToken },
      { "x-svc-token": "wrong" },
    ]
    for (const headers of refused) {
      const answer = await wake(headers)
      assert.equal(answer.status, 401)
      assert.equal(answer.json.ok, false)
      assert.equal(answer.json.error.code, "unauthorized")
      assert.equal(answer.headers["cache-control"], "no-store")
      assert.equal(answer.headers["www-authenticate"], "Bearer")
    }
  })

  test("is judged by the strongest means that is present", async () => {
    assert.equal((await wake({ authorization: "Bearer wrong", "x-svc-token": hookToken })).status, 401)
    assert.equal((await wake({ "x-svc-token": "wrong" }, `/hooks/wake?token=${hookToken}`)).status, 401)
    assert.equal((await wake({ authorization: `Bearer ${hookToken}`, "x-svc-token": "wrong" })).status, 200)
  })

  test("is refused before method, path, size and body are looked at", async () => {
    assert.equal((await server.send("/hooks/wake", { method: "GET" })).status, 401)
    assert.equal((await server.send("/hooks/nothing", { body })).status, 401)
    assert.equal((await server.send("/hooks/%ZZ", { body })).status, 401)
    assert.equal((await server.send("/hooks/wake", { body: "x".repeat(300_000) })).status, 401)
    assert.equal((await server.send("/hooks/wake", { body: "not json" })).status, 401)
  })

  test("follows the configuration at once", async () => {
    server.configure({ token: "another-secret-0123456789abc" })
    assert.equal((await wake({ "x-svc-token": hookToken })).status, 401)
    assert.equal((await wake({ "x-svc-token": "another-secret-0123456789abc" })).status, 200)
    server.configure({ enabled: false })
    assert.equal(server.hooks.path(), undefined)
    assert.equal((await wake({ "x-svc-token": "another-secret-0123456789abc" })).status, 404)
    server.configure({ enabled: true, token: hookToken })
  })
})

test("a token in the query works, warns once and leaves no trace in the log", async () => {
  const server = await startHooks()
  try {
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await server.send(`/hooks/wake?token=${hookToken}`, { body })).status, 200)
    }
    await server.send("/hooks/wake?token=guessed-value", { body })
    const log = server.logged()
    assert.equal(log.match(/hook token in query deprecated/g)?.length, 1)
    assert.ok(!log.includes(hookToken) && !log.includes("guessed-value") && !log.includes("?token"))
  } finally {
    await server.stop()
  }
})

test("guessing is slowed down after 20 failures while the right token still passes", async () => {
  const server = await startHooks()
  const wake = (token: string, address: string) =>
    server.send("/hooks/wake", { headers: { "x-svc-token": token, "x-forwarded-for": address }, body })
  try {
    const statuses: number[] = []
    for (let count = 0; count < 25; count += 1) statuses.push((await wake(`guess-${count}`, `10.0.0.${count}`)).status)
    assert.deepEqual(statuses, [...Array<number>(20).fill(401), ...Array<number>(5).fill(429)])
    const refused = await wake("guess", "127.0.0.1")
    assert.equal(refused.json.error.code, "too-many-failures")
    assert.ok(Number(refused.headers["retry-after"]) > 0)
    assert.equal((await wake(hookToken, "10.0.0.1")).status, 200)
  } finally {
    await server.stop()
  }
})

test("requests that are no deliveries neither use up the failures of senders nor allow endless guessing", async () => {
  const server = await startHooks()
  const guess = (method: string) => server.send("/hooks/wake", { method, headers: { "x-svc-token": "guess" } })
  try {
    for (let count = 0; count < 20; count += 1) assert.equal((await guess("GET")).status, 401)
    assert.equal((await guess("GET")).status, 429)
    assert.equal((await guess("POST")).status, 401)
  } finally {
    await server.stop()
  }
})

test("no source compares a secret with an operator: comparisons go through Secret.matches", () => {
  const folder = import.meta.dirname
  const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes(".test."))
  for (const name of sources) {
    const text = readFileSync(join(folder, name), "utf8")
    const compared = text.match(/\b\w*(?:token|secret)(?:\.\w+)*\s*(?:===?|!==?)(?![=]|\s*undefined)\s*\S+/gi) ?? []
    assert.deepEqual(compared, [], name)
    assert.ok(!text.includes(".reveal("), name)
  }
  assert.match(readFileSync(join(folder, "auth.ts"), "utf8"), /token\.matches\(candidate\.value\)/)
})
