// How people get in to the page, and how others do not: over real sockets, at the gateway's own listener.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { openStore } from "../../store/index.ts"
import { createBackground, noCrash, systemClock, systemIds } from "../../kernel/index.ts"
import { bearer, makeLog, startGateway } from "../gateway.fixture.ts"
import { createPageSessions } from "./sessions.ts"

let gateway: Awaited<ReturnType<typeof startGateway>>
before(async () => void (gateway = await startGateway()))
after(() => gateway.stop())

const origin = () => `http://127.0.0.1:${gateway.port}`
const code = async (headers: Record<string, string> = bearer): Promise<string> => {
  const answer = await gateway.send("/api/page/links", { method: "POST", headers, body: "{}" })
  assert.equal(answer.status, 200, answer.text)
  return String(answer.json.url).split("#enter=")[1] ?? ""
}
const enter = (given: string, headers: Record<string, string> = { origin: origin() }) =>
  gateway.send("/dashboard/enter", { method: "POST", headers, body: JSON.stringify({ code: given }) })

async function signIn(headers?: Record<string, string>) {
  const answer = await enter(await code(headers))
  assert.equal(answer.status, 200, answer.text)
  const header = String(answer.headers["set-cookie"])
  return { header, cookie: header.split(";")[0] ?? "", key: String(answer.json.key), id: String(answer.json.id) }
}

const ask = (who: { cookie: string; key?: string }, path = "/api/runs", more: Record<string, string> = {}) =>
  gateway.send(path, {
    headers: { cookie: who.cookie, ...(who.key === undefined ? {} : { "x-csrf-token": who.key }), ...more },
  })

test("a link signs in once; cookie and key together open what its maker could open", async () => {
  const link = await code()
  const [first, second] = await Promise.all([enter(link), enter(link)])
  assert.deepEqual([first.status, second.status].toSorted(), [200, 401])
  const me = await signIn()
  assert.match(me.header, /^svc-page-\d+=page_[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/)
  assert.equal((await ask(me)).status, 200)
  const who = await ask(me, "/api/page/session")
  assert.deepEqual(who.json.scopes, ["admin"])
  assert.equal(who.json.session.name, "A browser on an unknown system")
})

test("a cookie without the page's key opens nothing, reading included", async () => {
  const me = await signIn()
  const other = await signIn()
  for (const key of [undefined, "", "wrong", other.key]) {
    assert.equal((await ask({ cookie: me.cookie, ...(key === undefined ? {} : { key }) })).status, 401)
  }
  assert.equal(
    (await ask({ cookie: other.cookie.replace(/\..*/, me.cookie.replace(/^[^.]*/, "")), key: me.key })).status,
    401,
  )
})

test("another site can neither sign in, nor ask, nor frame the page", async () => {
  const me = await signIn()
  const foreign = { origin: "https://evil.example" }
  assert.equal((await enter(await code(), foreign)).json.error.code, "forbidden-origin")
  assert.equal((await enter(await code(), {})).json.error.code, "forbidden-origin")
  assert.equal((await ask(me, "/api/runs", foreign)).status, 403)
  assert.equal((await ask(me, "/api/runs", { "sec-fetch-site": "cross-site" })).status, 403)
  assert.equal((await ask(me, "/api/runs", { host: `evil.example:${gateway.port}` })).status, 403)
  assert.equal((await ask(me, "/api/stream", foreign)).status, 403)
})

test("a session has the scopes of the token that made it, never those of webhooks, and ends with the token", async () => {
  const { token } = await gateway.tokens.create({ name: "desk", scopes: ["status", "hooks"] })
  const me = await signIn({ authorization: `Bearer ${token}` })
  assert.deepEqual((await ask(me, "/api/page/session")).json.scopes, ["status"])
  assert.equal((await ask(me, "/api/status")).status, 200)
  assert.equal((await ask(me, "/api/runs")).json.error.code, "scope-missing")
  const grown = await gateway.send("/api/page/links", {
    method: "POST",
    headers: { cookie: me.cookie, "x-csrf-token": me.key, origin: origin() },
    body: "{}",
  })
  assert.deepEqual(grown.json.scopes, ["status"])
  await gateway.tokens.revoke("desk")
  assert.equal((await ask(me, "/api/status")).status, 401)
  assert.equal((await enter(String(grown.json.url).split("#enter=")[1] ?? "")).status, 401)
  const hooks = await gateway.tokens.create({ name: "sender", scopes: ["hooks"] })
  const refused = await gateway.send("/api/page/links", {
    method: "POST",
    headers: { authorization: `Bearer ${hooks.token}` },
    body: "{}",
  })
  assert.equal(refused.status, 403)
})

test("the stream of a browser or a token ends when what opened it is taken back, and tells nothing more", async () => {
  const stream = async (headers: Record<string, string>) => {
    const response = await fetch(`${origin()}/api/stream`, { headers })
    assert.equal(response.status, 200)
    const text = response.text()
    return { text, isOver: () => Promise.race([text.then(() => true), new Promise((no) => setTimeout(no, 20, false))]) }
  }
  const me = await signIn()
  const other = await signIn()
  const { token } = await gateway.tokens.create({ name: "listener", scopes: ["admin"] })
  const keys = { cookie: me.cookie, "x-csrf-token": me.key }
  const streams = await Promise.all([
    stream(keys),
    stream({ authorization: `Bearer ${token}` }),
    stream({ cookie: other.cookie, "x-csrf-token": other.key }),
  ])
  const headers = { ...keys, origin: origin() }
  assert.equal((await gateway.send("/api/page/leave", { method: "POST", headers, body: "{}" })).status, 200)
  await gateway.tokens.revoke("listener")
  await gateway.store.write(async ({ addJob }) => {
    addJob({ runId: "afterwards", kind: "turn", laneKey: "afterwards", payload: null })
  })
  for (const { text } of streams.slice(0, 2)) assert.doesNotMatch(await text, /afterwards/)
  assert.equal(await streams[2]?.isOver(), false)
  await gateway.post("/api/page/sessions/end", { id: other.id })
  assert.match((await streams[2]?.text) ?? "", /afterwards/)
})

test("signing out ends the session and takes the cookie away", async () => {
  const me = await signIn()
  const headers = { cookie: me.cookie, "x-csrf-token": me.key, origin: origin() }
  const left = await gateway.send("/api/page/leave", { method: "POST", headers, body: "{}" })
  assert.equal(left.status, 200)
  assert.match(String(left.headers["set-cookie"]), /^svc-page-\d+=; .*Max-Age=0/)
  assert.equal((await ask(me)).status, 401)
})

test("a cookie of another gateway on this machine is none of ours, and is no failure", async () => {
  const other = { cookie: "svc-page-1=page_abcdefgh.secret", key: "key" }
  const answer = await ask(other)
  assert.equal(answer.status, 401, answer.text)
})

test("the page's files may be linked to from anywhere and asked about, other paths of it may not be changed", async () => {
  for (const method of ["GET", "HEAD"]) {
    const answer = await gateway.send("/dashboard/nothing.js", { method, headers: { "sec-fetch-site": "cross-site" } })
    assert.equal(answer.status, 404, method)
  }
  const typed = await gateway.send("/", { headers: { accept: "text/html", "sec-fetch-site": "cross-site" } })
  assert.notEqual(typed.status, 403)
  for (const method of ["POST", "PUT"]) {
    const headers = { "sec-fetch-site": "cross-site" }
    assert.equal((await gateway.send("/dashboard/nothing.js", { method, headers })).status, 403, method)
  }
})

test("a session that is not there cannot be ended, and one that was ended is not there", async () => {
  const me = await signIn()
  const end = (id: string) => gateway.post("/api/page/sessions/end", { id })
  assert.equal((await end(me.id)).status, 200)
  assert.equal((await end(me.id)).status, 404)
  assert.equal((await end("page_nobody")).status, 404)
})

test("over plain HTTP from elsewhere nobody signs in; with TLS in front the cookie is Secure", async () => {
  const host = { host: `127.0.0.1:${gateway.port}`, origin: origin() }
  const proxied = { ...host, "x-forwarded-for": "10.1.2.3" }
  const refused = await enter(await code(), proxied)
  assert.equal(refused.json.error.code, "page-insecure")
  const safe = await enter(await code(), { ...proxied, "x-forwarded-proto": "https" })
  assert.equal(safe.status, 200)
  assert.match(String(safe.headers["set-cookie"]), /^__Host-svc-page-\d+=.*; Secure$/)
})

test("sign-ins stand in the audit log, wrong codes too, and no secret stands anywhere", async () => {
  const link = await code()
  const answer = await enter(link)
  await enter("wrong-code-of-somebody")
  const { json } = await gateway.get("/api/audit?action=page")
  const acts = json.items.map(({ action, who }: { action: string; who: { kind: string } }) => `${who.kind} ${action}`)
  assert.ok(acts.includes("page page.enter") && acts.includes("gateway-token page.link"), acts.join("; "))
  const failed = await gateway.get("/api/audit?action=auth.failed")
  assert.ok(failed.json.items.some(({ target }: { target: string }) => target === "page"))
  const secret = /\.([\w-]{43});/.exec(String(answer.headers["set-cookie"]))?.[1] ?? ""
  assert.equal(secret.length, 43)
  const files = readdirSync(gateway.folder).filter((file) => file.startsWith("svc.db"))
  const bytes = Buffer.concat(files.map((file) => readFileSync(join(gateway.folder, file))))
  for (const text of [link, secret, answer.json.key]) {
    assert.ok(!bytes.includes(text))
    assert.ok(!gateway.logged().includes(text))
  }
})

test("guessing codes is slowed down, and a right one passes all the same", async () => {
  const statuses = new Set<number>()
  for (let n = 0; n < 25; n += 1) statuses.add((await enter(`guess-${n}`)).status)
  assert.ok(statuses.has(429))
  assert.equal((await enter(await code())).status, 200)
})

test("sessions outlive a restart, end in time, and end when the gateway's own token is another", async () => {
  const folder = gateway.folder + "-restart"
  let now = 1_800_000_000_000
  const clock = { ...systemClock, now: () => now }
  const open = async (ownIssuer: string) => {
    const { log } = makeLog(folder)
    const store = await openStore({ folder, bootId: "b", crashPoint: noCrash, clock, ids: systemIds, log })
    const background = createBackground(log)
    const parts = {
      store,
      clock,
      ids: systemIds,
      background,
      ownIssuer,
      isIssuer: () => false,
      sessionMs: () => 1_000_000,
    }
    const close = async () => (await background.idle(), await store.close())
    return { sessions: createPageSessions(parts), close }
  }
  const first = await open("own:1")
  const link = first.sessions.makeLink({ scopes: ["admin"] })
  const old = first.sessions.makeLink({ scopes: ["admin"] })
  const me = await first.sessions.enter(link.code, "Firefox on Linux")
  assert.ok(me)
  now += 6 * 60_000
  assert.equal(await first.sessions.enter(old.code, "late"), undefined)
  await first.close()
  const second = await open("own:1")
  assert.equal(second.sessions.find(me.cookie, me.key)?.name, "Firefox on Linux")
  const ended = await second.sessions.enter(second.sessions.makeLink({ scopes: ["admin"] }).code, "Safari on macOS")
  assert.deepEqual(
    second.sessions.list().map(({ name }) => name),
    ["Firefox on Linux", "Safari on macOS"],
  )
  assert.equal(await second.sessions.end(ended?.id ?? ""), true)
  assert.equal(await second.sessions.end(ended?.id ?? ""), false)
  now += 1_000_000
  assert.equal(second.sessions.find(me.cookie, me.key), undefined)
  now -= 1_000_000
  await second.close()
  const same = await open("own:1")
  assert.deepEqual(
    same.sessions.list().map(({ id }) => id),
    [me.id],
  )
  await same.close()
  const third = await open("own:2")
  assert.equal(third.sessions.find(me.cookie, me.key), undefined)
  await third.close()
})

test("an end that the disk did not take can be repeated, and opens nothing meanwhile", async (context) => {
  const { log } = makeLog(gateway.folder + "-end")
  const folder = gateway.folder + "-end"
  const store = await openStore({ folder, bootId: "b", crashPoint: noCrash, clock: systemClock, ids: systemIds, log })
  const background = createBackground(log)
  context.after(async () => (await background.idle(), await store.close()))
  const open = () =>
    createPageSessions({
      store,
      clock: systemClock,
      ids: systemIds,
      background,
      ownIssuer: "own:1",
      isIssuer: () => false,
      sessionMs: () => 1_000_000,
    })
  const sessions = open()
  const me = await sessions.enter(sessions.makeLink({ scopes: ["admin"] }).code, "Firefox on Linux")
  assert.ok(me)
  store.handle.raw.exec("pragma query_only = on")
  await assert.rejects(sessions.end(me.id), { code: "storage-failed" })
  store.handle.raw.exec("pragma query_only = off")
  assert.deepEqual([sessions.find(me.cookie, me.key), sessions.isGood(me.id), sessions.list()], [undefined, false, []])
  assert.equal(await sessions.end(me.id), true)
  assert.deepEqual(open().list(), [])
})
