import assert from "node:assert/strict"
import { EventEmitter, once } from "node:events"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, it } from "node:test"
import pino from "pino"
import { until } from "../../test/support/world.ts"
import { changedPaths, createConfigHolder, lastGoodFileName } from "./holder.ts"
import type { ConfigHolder } from "./holder.ts"
import { loadConfigOrThrow } from "./load.ts"
import { setConfigValue } from "./write-back.ts"

interface Line {
  level: number
  msg: string
}

let folder: string
let path: string
let holder: ConfigHolder | undefined
let events: EventEmitter
let lines: Line[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-holder-"))
  path = join(folder, "svc.json")
  events = new EventEmitter()
  lines = []
})
afterEach(() => {
  holder?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const sink = {
  write(text: string) {
    const line = JSON.parse(text) as Line
    lines.push(line)
    events.emit(line.msg)
  },
}

function start(): ConfigHolder {
  const log = pino({ level: "debug" }, sink)
  holder = createConfigHolder({ path, env: {}, stateFolder: join(folder, "state"), log, stabilityMs: 20, pollMs: 100 })
  holder.subscribe((changed) => events.emit("changed", changed))
  return holder
}

const signal = () => ({ signal: AbortSignal.timeout(10_000) })
const changed = async () => ((await once(events, "changed", signal())) as [string[]])[0]
const logged = (message: string) => once(events, message, signal())
const quick = "reload: {debounceMs: 20}"
const invalid = "config file is invalid; the last good configuration stays in use"
const gone = "config file is gone; the last good configuration stays in use"

describe("the configuration of a running gateway", () => {
  it("follows a file that is written, replaced by rename, and changed by us", async () => {
    writeFileSync(path, `{gateway: {${quick}, port: 1}}`)
    start()
    const first = changed()
    writeFileSync(path, `{gateway: {${quick}, port: 2}}`)
    assert.deepEqual(await first, ["gateway"])
    const second = changed()
    writeFileSync(join(folder, "new"), `{gateway: {${quick}, port: 2}, hooks: {path: "/in"}}`)
    renameSync(join(folder, "new"), path)
    assert.deepEqual(await second, ["hooks"])
    const third = changed()
    setConfigValue({ path, env: {}, key: "gateway.port", value: 3 })
    assert.deepEqual(await third, ["gateway"])
    assert.equal((holder as ConfigHolder).current().gateway.port, 3)
  })

  it("takes up a file that appears later, in a folder that does not exist yet", async () => {
    path = join(folder, "later", "svc.json")
    const running = start()
    const change = changed()
    mkdirSync(join(folder, "later"))
    writeFileSync(path, "{gateway: {port: 5}}")
    assert.deepEqual(await change, ["gateway"])
    assert.equal(running.current().gateway.port, 5)
  })

  it("keeps the last good one when the file vanishes, and follows it when it comes back", async () => {
    writeFileSync(path, `{gateway: {${quick}, port: 1}, channels: {chatapp: {dmPolicy: "disabled"}}}`)
    const running = start()
    const warning = logged(gone)
    rmSync(path)
    await warning
    assert.equal(running.current().channels.chatapp.dmPolicy, "disabled")
    assert.equal(running.reload().config.channels.chatapp.dmPolicy, "disabled")
    const change = changed()
    writeFileSync(path, `{gateway: {${quick}, port: 2}}`)
    assert.deepEqual(await change, ["gateway", "channels"])
  })

  it("says that the file is gone until it is back, be it the same, and a start without it asks what is meant", async () => {
    const text = `{gateway: {${quick}, port: 4711}}`
    writeFileSync(path, text)
    const running = start()
    for (const take of [() => rmSync(path), () => (rmSync(path), symlinkSync(join(folder, "nowhere"), path))]) {
      const warning = logged(gone)
      take()
      await warning
      assert.match(
        running.issues()[0]?.message ?? "",
        /no configuration at .*there was one before.*last-good: copy it to/,
      )
      assert.throws(() => start(), { code: "config-emptied", message: /there was one before/ })
      rmSync(path, { force: true })
      writeFileSync(path, text)
      await until("it is in force again", () => (running.issues().length === 0 ? true : undefined))
      assert.equal(running.current().gateway.port, 4711)
    }
    running.stop()
    rmSync(path)
    rmSync(join(folder, "state", lastGoodFileName))
    assert.equal(start().current().gateway.port, 18_789, "none was meant")
  })

  it("keeps the last good one when the file is bad, says why, and recovers", async () => {
    writeFileSync(path, `{gateway: {${quick}, port: 1}}`)
    const running = start()
    const warning = logged(invalid)
    writeFileSync(path, `{gateway: {${quick}, port: "x"}}`)
    await warning
    assert.equal(running.current().gateway.port, 1)
    assert.equal(running.issues()[0]?.path, "gateway.port")
    assert.throws(() => running.reload(), { code: "config-invalid" })
    const change = changed()
    writeFileSync(path, `{gateway: {${quick}, port: 4}}`)
    await change
    assert.deepEqual(running.issues(), [])
  })

  it("recovers when a bad file that a change has included is corrected, and nothing else is touched", async () => {
    writeFileSync(path, `{gateway: {${quick}, port: 1}}`)
    const part = join(folder, "part.json")
    writeFileSync(part, "{hooks: {path: ")
    const running = start()
    const warning = logged(invalid)
    writeFileSync(path, `{$include: "part.json", gateway: {${quick}, port: 1}}`)
    await warning
    const change = changed()
    writeFileSync(part, "{hooks: {path: '/b'}}")
    assert.deepEqual(await change, ["hooks"])
    assert.equal(running.current().hooks.path, "/b")
  })

  it("follows included files and the target of a link", async () => {
    mkdirSync(join(folder, "real"))
    writeFileSync(join(folder, "real", "svc.json"), `{$include: "part.json", gateway: {${quick}}}`)
    writeFileSync(join(folder, "real", "part.json"), "{hooks: {path: '/a'}}")
    symlinkSync(join(folder, "real", "svc.json"), path)
    const running = start()
    let change = changed()
    writeFileSync(join(folder, "real", "part.json"), "{hooks: {path: '/b'}}")
    assert.deepEqual(await change, ["hooks"])
    change = changed()
    writeFileSync(join(folder, "real", "svc.json"), `{gateway: {${quick}}}`)
    assert.deepEqual(await change, ["hooks"])
    assert.equal(running.current().hooks.path, "/hooks")
  })

  for (const { name, spoil, why } of [
    { name: "a link that leads in a circle", spoil: () => symlinkSync(path, path), why: /leads in a circle/ },
    {
      name: "an included file that no system has a name for",
      spoil: () => writeFileSync(path, `{$include: "./${"x".repeat(300)}.json"}`),
      why: /ENAMETOOLONG/,
    },
  ]) {
    it(`goes on with the last good one while ${name} stands in its place`, async () => {
      writeFileSync(path, `{gateway: {${quick}, port: 1}}`)
      const running = start()
      const refused = logged(invalid)
      rmSync(path)
      spoil()
      await refused
      assert.match(running.issues()[0]?.message ?? "", why)
      assert.equal(running.current().gateway.port, 1)
      const change = changed()
      rmSync(path)
      writeFileSync(path, `{gateway: {${quick}, port: 2}}`)
      assert.deepEqual(await change, ["gateway"])
    })
  }

  const asRoot = process.getuid?.() === 0 ? false : "only root may become somebody else"
  it("is looked at now and then where its folder cannot be watched", { skip: asRoot }, async () => {
    // Nobody may enter the folder, but not list it.
    const nobody = 65_534
    writeFileSync(path, `{gateway: {${quick}, port: 1}}`, { mode: 0o644 })
    chmodSync(path, 0o644)
    mkdirSync(join(folder, "state"))
    chownSync(join(folder, "state"), nobody, nobody)
    chmodSync(folder, 0o711)
    process.seteuid?.(nobody)
    try {
      const running = start()
      const change = changed()
      process.seteuid?.(0)
      writeFileSync(path, `{gateway: {${quick}, port: 2}}`)
      process.seteuid?.(nobody)
      assert.deepEqual(await change, ["gateway"])
      assert.equal(running.current().gateway.port, 2)
    } finally {
      process.seteuid?.(0)
    }
  })

  it("changes nothing with gateway.reload.mode off, except when asked", async () => {
    writeFileSync(path, "{gateway: {reload: {debounceMs: 20, mode: 'off'}, port: 1}}")
    const running = start()
    const ignored = logged("config change ignored: gateway.reload.mode is off")
    writeFileSync(path, "{gateway: {reload: {debounceMs: 20, mode: 'off'}, port: 2}}")
    await ignored
    assert.equal(running.current().gateway.port, 1)
    assert.equal(running.reload().config.gateway.port, 2)
  })

  it("says nothing of a file any more that was corrected, also where changes are not followed", async () => {
    const text = "{gateway: {reload: {debounceMs: 20, mode: 'off'}, port: 1}}"
    writeFileSync(path, text)
    const running = start()
    const warning = logged(invalid)
    writeFileSync(path, text.replace("1}", "'x'}"))
    await warning
    assert.equal(running.issues().length, 1)
    const ignored = logged("config change ignored: gateway.reload.mode is off")
    writeFileSync(path, text)
    await ignored
    assert.deepEqual(running.issues(), [])
  })

  it("follows a file that says again what it said before it was read on demand", async () => {
    const [one, two] = [1, 2].map((port) => `{gateway: {${quick}, port: ${port}}}`) as [string, string]
    writeFileSync(path, one)
    const running = start()
    writeFileSync(path, two)
    assert.equal(running.reload().config.gateway.port, 2)
    const change = changed()
    writeFileSync(path, one)
    assert.deepEqual(await change, ["gateway"])
    assert.equal(running.current().gateway.port, 1)
    writeFileSync(path, "{")
    assert.throws(() => running.reload(), { code: "config-invalid" })
    writeFileSync(path, one)
    await until("it is as it should be", () => (running.issues().length === 0 ? true : undefined))
  })

  it("goes on when one part fails to apply a change", async () => {
    writeFileSync(path, `{gateway: {${quick}, port: 1}}`)
    const running = start()
    running.subscribe(() => {
      throw new Error("broken part")
    })
    const failure = logged("config change could not be applied by a part")
    writeFileSync(path, `{gateway: {${quick}, port: 2}}`)
    await failure
    assert.equal(running.current().gateway.port, 2)
  })

  it("warns when a valid file lost most of its content, and uses it", async () => {
    const prompt = "x".repeat(300)
    writeFileSync(path, `{gateway: {${quick}}, agents: {defaults: {heartbeat: {prompt: "${prompt}"}}}}`)
    const running = start()
    const warning = logged("config file lost most of its content; it is valid and is used")
    writeFileSync(path, `{gateway: {${quick}}}`)
    await warning
    assert.notEqual(running.current().agents.defaults.heartbeat.prompt, prompt)
  })

  it("stays as it is when the file says nothing any more, keeps its copy and asks what is meant", async () => {
    writeFileSync(path, `{gateway: {${quick}, port: 4711}}`)
    const running = start()
    const copy = readFileSync(join(folder, "state", lastGoodFileName), "utf8")
    for (const empty of ["{}", "{ /* nothing */ }\n", `{"$schema": "https://example.com/schema.json"}`]) {
      const refused = logged(invalid)
      writeFileSync(path, empty)
      await refused
      assert.equal(running.current().gateway.port, 4711)
      assert.match(running.issues()[0]?.message ?? "", /empty, though it was not before.*svc\.json\.last-good/)
      assert.throws(() => running.reload(), { code: "config-emptied" })
      assert.throws(() => start(), { code: "config-emptied" }, "a start asks too")
      assert.equal(readFileSync(join(folder, "state", lastGoodFileName), "utf8"), copy)
    }
    running.stop()
    rmSync(join(folder, "state", lastGoodFileName))
    assert.equal(start().current().gateway.port, 18_789, "it was meant")
  })

  it("is never replaced by a file that was cut off, wherever it was cut", () => {
    const text = `{gateway: {reload: {mode: "off"}, port: 4711}, hooks: {enabled: true, token: "ünïcode"}, channels: {chatapp: {dmPolicy: "disabled"}}}`
    const bytes = Buffer.from(text)
    writeFileSync(path, bytes)
    const running = start()
    const good = running.snapshot()
    for (let length = 0; length < bytes.length; length += 1) {
      writeFileSync(path, bytes.subarray(0, length))
      assert.throws(() => running.reload(), { code: "config-invalid" }, `cut after ${length} bytes`)
      assert.equal(running.snapshot(), good)
    }
    writeFileSync(path, bytes)
    assert.equal(running.reload().hash, good.hash)
  })
})

describe("a start", () => {
  it("is refused with a bad file, even when a last good copy exists", () => {
    writeFileSync(path, "{gateway: {port: 7}}")
    start().stop()
    const copy = join(folder, "state", lastGoodFileName)
    assert.deepEqual(JSON.parse(readFileSync(copy, "utf8")), { gateway: { port: 7 } })
    assert.equal(statSync(copy).mode & 0o777, 0o600)
    writeFileSync(path, "{gateway: {port: 7}")
    assert.throws(() => start(), { code: "config-invalid" })
  })
})

describe("changedPaths", () => {
  it("names what differs, as deep as asked", () => {
    writeFileSync(path, "{}")
    const before = loadConfigOrThrow({ path, env: {} }).config
    writeFileSync(path, "{hooks: {path: '/in'}, agents: {defaults: {heartbeat: {every: '1h'}}}}")
    const after = loadConfigOrThrow({ path, env: {} }).config
    assert.deepEqual(changedPaths(before, before), [])
    assert.deepEqual(changedPaths(before, after).sort(), ["agents", "hooks"])
    assert.deepEqual(changedPaths(before, after, 3).sort(), ["agents.defaults.heartbeat", "hooks.path"])
  })
})

it("takes the right to write its files and their folder from others, and says so", () => {
  writeFileSync(path, "{ $include: './part.json' }")
  writeFileSync(join(folder, "part.json"), "{}")
  for (const [file, mode] of [
    [path, 0o664],
    [join(folder, "part.json"), 0o646],
    [folder, 0o777],
  ] as const) {
    chmodSync(file, mode)
  }
  start()
  for (const file of [path, join(folder, "part.json"), folder]) assert.equal(statSync(file).mode & 0o022, 0, file)
  assert.equal(lines.filter((line) => line.msg === "configuration rights narrowed").length, 3)
})
