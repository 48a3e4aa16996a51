// Profiles while the gateway runs: made, removed, reset and reconfigured, and the browsers of all others run on.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { mkdir, readlink, symlink, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { dirname, join } from "node:path"
import { after, before, test, type TestContext } from "node:test"
import { type BrowserBench, type Reply, startBrowserBench } from "../../../test/support/browser-service.ts"
import type { BrowserConfig } from "../config.ts"
import { signedColor } from "./appearance.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { inLongForm } from "../../../test/support/long.ts"

let bench: BrowserBench

before(async () => {
  // Not any free one: the service has to come back to it.
  bench = await startBrowserBench({ defaultProfile: "managed" }, { controlPort: await unusedPort() })
})

after(() => bench.stop())

async function startBench(t: TestContext, settings: Partial<BrowserConfig> = {}, options: object = {}) {
  const bench = await startBrowserBench({ defaultProfile: "managed", ...settings }, options)
  t.after(() => bench.stop())
  return bench
}

const errorOf = ({ status, body }: Reply) => [status, body.error?.code]

/** Starts the browser of the profile, and gives its process. */
async function pidOf(profile: string, { call } = bench): Promise<number> {
  const { status, body } = await call("POST", `/start?profile=${profile}`)
  assert.equal(status, 200, JSON.stringify(body))
  return (await call("GET", `/?profile=${profile}`)).body.pid
}

/** The profile `work`, which may be there. */
async function needWork(): Promise<void> {
  if (!bench.settings.profiles["work"]) await bench.call("POST", "/profiles/create", { name: "work", color: "0066CC" })
}

test("makes profiles with a colour of their own and no port, which can be used at once", async () => {
  const managed = await pidOf("managed")
  const { body: work } = await bench.call("POST", "/profiles/create", { name: "work" })
  const { body: second } = await bench.call("POST", "/profiles/create", { name: "second", color: "abcdef" })
  assert.deepEqual(work, {
    ok: true,
    profile: "work",
    cdpPort: null,
    cdpUrl: null,
    color: "#0066CC",
    isRemote: false,
  })
  assert.equal(second.color, "#ABCDEF")
  assert.deepEqual(bench.settings.profiles["work"], { driver: "managed", color: "#0066CC" })
  assert.notEqual(await pidOf("work"), managed)
  assert.equal((await bench.call("GET", "/?profile=managed")).body.pid, managed)
  const remote = { name: "far", cdpUrl: "https://ada:s3cret-word@host.example/x?token=s3cret-token" }
  const { body: far } = await bench.call("POST", "/profiles/create", remote)
  assert.deepEqual([far.isRemote, far.cdpPort, far.cdpUrl], [true, 443, "https://host.example/x?token=***"])
  assert.equal(bench.settings.profiles["far"]?.cdpUrl, remote.cdpUrl)
  assert.equal(bench.logLines.join("\n").includes("s3cret"), false)
  const { body: tabs } = await bench.call("POST", "/profiles/create", { name: "tabs", driver: "extension" })
  assert.deepEqual([bench.settings.profiles["tabs"]?.driver, tabs.isRemote], ["extension", false])
  assert.equal((await bench.call("GET", "/?profile=tabs")).body.cdpPort, tabs.cdpPort, "the port of the relay")
})

test("gives a new profile a colour that none has, and not that of the configuration, as long as there are some", async (t) => {
  const colors = ["#0066CC", "#9933FF", "#FF6699", "#00CCCC", "#FF9900", "#6666FF", "#CC3366"]
  const written = (all: string[]) =>
    Object.fromEntries(all.map((color, at) => [`p${at}`, { driver: "managed", color }]))
  const profiles = { managed: { driver: "managed", color: "#0066CC" } } as BrowserConfig["profiles"]
  const { call, settings, service } = await startBench(t, { profiles })
  // #FF4500 is the configuration's, #00AA00 the relay's.
  assert.equal((await call("POST", "/profiles/create", { name: "first" })).body.color, "#9933FF")
  settings.profiles = written(colors) as BrowserConfig["profiles"]
  await service.reconfigure()
  assert.equal((await call("POST", "/profiles/create", { name: "last" })).body.color, "#339966")
  assert.match((await call("POST", "/profiles/create", { name: "more" })).body.color, /^#[0-9A-F]{6}$/)
})

test("a profile may take the name of the relay, and is the usual one by it", async (t) => {
  const profiles: BrowserConfig["profiles"] = { relay: { driver: "managed" } }
  const { call } = await startBench(t, { defaultProfile: "relay", profiles })
  assert.equal((await call("GET", "/")).body.profile, "relay")
})

test("leaves `managed` its colour when it is written down without one", async (t) => {
  const { call } = await startBench(t)
  const made = await call("POST", "/profiles/create", { name: "managed" })
  assert.deepEqual([made.status, made.body.color], [200, "#FF4500"], JSON.stringify(made.body))
  assert.equal((await call("GET", "/")).body.color, "#FF4500")
})

test("refuses profiles that cannot be, each with its reason, and writes nothing", async () => {
  await needWork()
  const before = Object.keys(bench.settings.profiles)
  const create = (body: object) => bench.call("POST", "/profiles/create", body)
  const names = [undefined, "", "Work", "a b", "../up", "a/b", "-a", "a".repeat(65), "a.b", "ä"]
  for (const name of names) {
    const reply = await create({ name })
    assert.deepEqual(errorOf(reply), [400, "bad-request"], String(name))
    assert.match(reply.body.error.message, /^name: /)
  }
  for (const fields of [{ color: "red" }, { cdpUrl: "ftp://x" }, { cdpUrl: "host" }, { driver: "other" }])
    assert.deepEqual(errorOf(await create({ name: "new", ...fields })), [400, "bad-request"], JSON.stringify(fields))
  assert.deepEqual(errorOf(await create({ name: "work" })), [409, "conflict"])
  assert.deepEqual(errorOf(await create({ name: "relay" })), [409, "conflict"])
  const relayed = { name: "new", driver: "relay", cdpUrl: "http://127.0.0.1:9" }
  assert.deepEqual(errorOf(await create(relayed)), [400, "bad-request"])
  assert.deepEqual(Object.keys(bench.settings.profiles), before)
  // Of two at the same time one wins.
  const both = await Promise.all([create({ name: "twin" }), create({ name: "twin" })])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409])
})

test("tints the window of each profile in its colour, which Chromium takes and keeps", inLongForm, async () => {
  await needWork()
  const folder = join(bench.stateFolder, "browser", "work", "user-data")
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"))
  for (const color of ["#0066CC", "#CC3366"]) {
    bench.settings.profiles["work"] = { ...bench.settings.profiles["work"], driver: "managed", color }
    await bench.service.reconfigure()
    const { body } = await bench.call("POST", "/tabs/open?profile=work", { url: "about:blank" })
    assert.equal(body.url, "about:blank")
    await bench.call("POST", "/stop?profile=work", {})
    const preferences = read("Default/Preferences")
    assert.equal(preferences.browser.theme.user_color2, signedColor(color))
    assert.equal(preferences.profile.name, "work")
    // Chromium's own list of profiles: it has made its theme of the colour.
    assert.equal(read("Local State").profile.info_cache.Default.profile_color_seed, signedColor(color))
  }
})

test("removes a profile with its browser, keeps its data in the trash, and touches no other", async () => {
  await needWork()
  const [managed, work] = [await pidOf("managed"), await pidOf("work")]
  const { body } = await bench.call("DELETE", "/profiles/work")
  assert.deepEqual([body.ok, body.profile, body.deleted], [true, "work", true])
  assert.equal(isProcessAlive(work), false)
  assert.equal(isProcessAlive(managed), true)
  assert.equal(existsSync(join(bench.stateFolder, "browser", "work")), false)
  assert.ok(body.to.startsWith(join(bench.stateFolder, "browser", ".trash")))
  // Chromium has taken it: what is typed on one site is not offered on another.
  const kept = JSON.parse(readFileSync(join(body.to, "user-data", "Default", "Preferences"), "utf8"))
  assert.deepEqual([kept.autofill.profile_enabled, kept.autofill.credit_card_enabled], [false, false])
  assert.deepEqual(errorOf(await bench.call("GET", "/?profile=work")), [404, "profile-not-found"])
  assert.equal(bench.settings.profiles["work"], undefined)
  const refused = {
    work: [404, "profile-not-found"],
    managed: [400, "bad-request"],
    "..%2f..": [400, "bad-request"],
    "A%20B": [400, "bad-request"],
    "%ZZ": [400, "bad-request"],
  }
  for (const [name, expected] of Object.entries(refused))
    assert.deepEqual(errorOf(await bench.call("DELETE", `/profiles/${name}`)), expected, name)
  const hintOf = async (name: string) => (await bench.call("DELETE", `/profiles/${name}`)).body.error.hint
  assert.match(await hintOf("managed"), /browser\.defaultProfile/)
  assert.match(await hintOf("work"), /svc browser profiles/)
  assert.doesNotMatch(await hintOf("relay"), /reset-profile/, "it has nothing that could be emptied")
})

test("removes no data where there is none, and none that is not a profile's of our own", async () => {
  await bench.call("POST", "/profiles/create", { name: "unused" })
  const unused = (await bench.call("DELETE", "/profiles/unused")).body
  assert.deepEqual(unused, { ok: true, profile: "unused", deleted: false })
  await bench.call("POST", "/profiles/create", { name: "elsewhere", cdpUrl: "http://127.0.0.1:9" })
  const folder = join(bench.stateFolder, "browser", "elsewhere")
  await mkdir(folder, { recursive: true })
  const elsewhere = (await bench.call("DELETE", "/profiles/elsewhere")).body
  assert.deepEqual(elsewhere, { ok: true, profile: "elsewhere", deleted: false })
  assert.ok(existsSync(folder))
})

test("resets a managed profile: the data goes to the trash, and the next start is as the first", async () => {
  await bench.call("POST", "/profiles/create", { name: "empty" })
  const empty = await bench.call("POST", "/reset-profile?profile=empty", {})
  assert.deepEqual([empty.body.moved, empty.body.to], [false, undefined])
  const pid = await pidOf("managed")
  const folder = join(bench.stateFolder, "browser", "managed", "user-data")
  await writeFile(join(folder, "mark"), "old")
  // A start at the same time waits until the data is away.
  const [reset, started] = await Promise.all([bench.call("POST", "/reset-profile", {}), bench.call("POST", "/start")])
  assert.deepEqual([reset.status, started.status], [200, 200])
  assert.deepEqual([reset.body.moved, reset.body.from], [true, folder])
  assert.equal(readFileSync(join(reset.body.to, "mark"), "utf8"), "old")
  assert.equal(isProcessAlive(pid), false)
  assert.notEqual(await pidOf("managed"), pid)
  assert.equal(existsSync(join(folder, "mark")), false)
})

test("moves a folder that is a link as a link, and touches nothing that it leads to", async () => {
  const outside = temporaryFolder()
  await writeFile(join(outside, "kept"), "")
  await bench.call("POST", "/profiles/create", { name: "linked" })
  await mkdir(join(bench.stateFolder, "browser"), { recursive: true })
  await symlink(outside, join(bench.stateFolder, "browser", "linked"))
  const { body } = await bench.call("DELETE", "/profiles/linked")
  assert.equal(await readlink(body.to), outside)
  assert.ok(existsSync(join(outside, "kept")))
})

test("a changed configuration restarts only the profiles that it changes", async () => {
  const [one, two, three] = (await Promise.all([1, 2, 3].map(unusedPort))) as [number, number, number]
  bench.settings.profiles = { one: { driver: "managed", cdpPort: one }, two: { driver: "managed", cdpPort: two } }
  await bench.service.reconfigure()
  // Preferences that cannot be read are left to Chromium, and keep nobody from a start.
  const preferences = join(bench.stateFolder, "browser", "one", "user-data", "Default", "Preferences")
  await mkdir(dirname(preferences), { recursive: true })
  await writeFile(preferences, "{ damaged")
  assert.equal((await bench.call("GET", "/?profile=one")).body.cdpPort, one, "also before it runs")
  const pids = await Promise.all(["managed", "one", "two"].map((name) => pidOf(name)))
  const alive = () => pids.map(isProcessAlive)
  bench.settings.color = "#123456"
  bench.settings.evaluateEnabled = false
  bench.settings.remoteCdpTimeoutMs = 900
  await bench.service.reconfigure()
  assert.deepEqual(alive(), [true, true, true])
  assert.equal((await bench.call("GET", "/")).body.color, "#123456")
  const evaluate = await bench.call("POST", "/act", { kind: "evaluate", fn: "1" })
  assert.deepEqual(errorOf(evaluate), [403, "evaluate-disabled"])
  bench.settings.profiles = { one: { driver: "managed", cdpPort: three } }
  await bench.service.reconfigure()
  assert.deepEqual(alive(), [true, false, false])
  await pidOf("one")
  assert.equal((await bench.call("GET", "/?profile=one")).body.cdpPort, three)
  assert.deepEqual(errorOf(await bench.call("GET", "/?profile=two")), [404, "profile-not-found"])
})

test("switching browser control off ends its browsers, and on again serves as before", async () => {
  const pid = await pidOf("managed")
  bench.settings.enabled = false
  const off = bench.service.reconfigure()
  bench.settings.enabled = true
  // Both at once: the second waits for the first.
  await Promise.all([off, bench.service.reconfigure()])
  assert.equal(bench.service.status().listening, true)
  bench.settings.enabled = false
  await bench.service.reconfigure()
  assert.equal(isProcessAlive(pid), false)
  assert.deepEqual(bench.service.status(), { enabled: false, listening: false, controlPort: null, profiles: [] })
  bench.settings.enabled = true
  await bench.service.reconfigure()
  assert.equal((await bench.call("GET", "/")).status, 200)
})

test("says that the range of ports is used up, and takes the first that becomes free", inLongForm, async (t) => {
  const controlPort = await unusedPort()
  const [first, last] = [controlPort + 9, controlPort + 108]
  const profiles: BrowserConfig["profiles"] = {
    managed: { driver: "managed", cdpPort: first },
    work: { driver: "managed", cdpPort: first + 50 },
  }
  const bench = await startBench(t, { profiles }, { controlPort })
  const servers: Server[] = []
  t.after(() => servers.forEach((server) => server.close()))
  for (let port = first; port <= last; port += 1) servers.push(await squat(port))
  const start = await bench.call("POST", "/start")
  assert.deepEqual(errorOf(start), [507, "port-range-full"])
  assert.match(start.body.error.message, new RegExp(`${first} to ${last}`))
  await new Promise((resolve) => servers[50]?.close(resolve))
  // The port belongs to `work`, running or not.
  assert.deepEqual(errorOf(await bench.call("POST", "/start")), [507, "port-range-full"])
  assert.equal((await bench.call("POST", "/start?profile=work")).status, 200)
  await new Promise((resolve) => servers[70]?.close(resolve))
  assert.equal((await bench.call("POST", "/start")).status, 200)
  assert.equal((await bench.call("GET", "/?profile=managed")).body.cdpPort, first + 70)
})

async function squat(port: number): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    // Taken already by some other program: then it squats for us.
    server.once("error", () => resolve())
    server.listen({ host: "127.0.0.1", port, exclusive: true }, resolve)
  })
  return server
}

/** Below the ports that the system gives to connections, so that a range beside it stays as it is. */
async function unusedPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = await squat(port)
    if (!server.listening) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
