import assert from "node:assert/strict"
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, afterEach, before, describe, test } from "node:test"
import { createLog, createRedactor, systemClock } from "../../kernel/index.ts"
import { hooksConfig, startHooks } from "../hooks.fixture.ts"
import { createTransforms } from "./transforms.ts"

let server: Awaited<ReturnType<typeof startHooks>>
before(async () => (server = await startHooks({ transformTimeLimitMs: 400 })))
after(() => server.stop())
afterEach(() => {
  for (const table of ["event", "job", "inbox", "hook_delivery"]) server.rows(`delete from ${table}`)
})

let count = 0
/** A module of its own for each test, and a mapping at /hooks/t that uses it. */
function module(source: string, mapping: Record<string, unknown> = {}, extension = "mjs"): string {
  count += 1
  const name = `module-${count}.${extension}`
  writeFileSync(join(server.transforms, name), source)
  server.configure({
    mappings: [{ match: { path: "t" }, transform: { module: name }, messageTemplate: "base {{x}}", ...mapping }],
  })
  return name
}
const inputs = () =>
  server.rows("select payload from job where kind = 'turn'").map((row) => JSON.parse(String(row.payload)))
const post = (body: object = { x: 1 }) => server.post("/hooks/t", body)
const lastText = async () => {
  const answer = await post()
  assert.equal(answer.status, 202, answer.text)
  return inputs().at(-1).text as string
}

describe("a transform", () => {
  test("changes the action, and is given payload, headers, URL and path", async () => {
    module(`export default async ({ payload, headers, url, path }) => ({
      message: [payload.x, headers["user-agent"] ?? "-", url.searchParams.get("q"), url.pathname, path, url instanceof URL].join(" "),
      name: "Made", sessionKey: "made", wakeMode: "next-heartbeat", deliver: false, timeoutSeconds: 9 })`)
    assert.equal((await server.post("/hooks/t?q=7", { x: 5 })).status, 202)
    const [input] = inputs()
    assert.equal(input.text, "5 - 7 /t t true")
    assert.deepEqual(input.hook, { name: "Made", wakeMode: "next-heartbeat" })
    assert.deepEqual([input.sessionKey, input.route, input.timeoutSeconds], ["agent:main:hook:made", null, 9])
  })

  test("leaves the base action as it is with undefined and with an empty object", async () => {
    module("export default () => undefined")
    assert.equal(await lastText(), "base 1")
    module("export function transform() { return {} }")
    assert.equal(await lastText(), "base 1")
  })

  test("leaves as it is what it gives null for", async () => {
    module("export default () => ({ message: null, to: null, model: null, deliver: null, timeoutSeconds: null })", {
      to: "7",
    })
    assert.equal(await lastText(), "base 1")
    assert.equal(inputs().at(-1).route.chatId, "7")
  })

  test("skips a delivery with null, and a repeat of it too", async () => {
    module("export default () => null", { dedupe: true })
    for (let time = 0; time < 2; time += 1) {
      const answer = await post()
      assert.equal(answer.status, 204)
      assert.equal(answer.text, "")
    }
    assert.equal(inputs().length, 0)
    await server.background.idle()
    assert.deepEqual(
      server.rows("select verdict from hook_delivery order by id").map((row) => row.verdict),
      ["skipped", "duplicate"],
    )
  })

  test("may make a wake of a run", async () => {
    module('export default () => ({ kind: "wake", text: "look", mode: "next-heartbeat" })')
    assert.deepEqual((await post()).json, { ok: true, mode: "next-heartbeat" })
  })

  test("may be TypeScript, and a named export is another function than the default one", async () => {
    const name = module(
      "export const one = ({ payload }: { payload: { x: number } }) => ({ message: `one ${payload.x}` })\nexport const two = (): object => ({ message: 'two' })",
      {},
      "ts",
    )
    for (const name2 of ["one", "two"]) {
      server.configure({ mappings: [{ match: { path: "t" }, transform: { module: name, export: name2 } }] })
      assert.equal(await lastText(), name2 === "one" ? "one 1" : "two")
    }
    server.configure({ mappings: [{ match: { path: "t" }, transform: { module: name, export: "three" } }] })
    assert.equal((await post()).status, 500)
  })

  test("is called for each element of a batch, which it sees as item", async () => {
    module("export default ({ item }) => item.skip ? null : { message: 'got ' + item.n }", { forEach: "items" })
    const answer = await post({ items: [{ n: 1 }, { skip: true }, { n: 3 }] })
    assert.equal(answer.status, 202)
    assert.deepEqual(
      inputs().map((input) => input.text),
      ["got 1", "got 3"],
    )
  })

  test("cannot lift the boundary, choose another namespace, or reach what the templates cannot", async () => {
    module(
      "export default ({ headers }) => ({ allowUnsafeExternalContent: true, wrap: false, trusted: true, message: JSON.stringify(headers) })",
    )
    await post()
    assert.deepEqual([inputs()[0].wrap, inputs()[0].trusted], [undefined, false])
    assert.ok(!inputs()[0].text.includes("authorization"))
    module('export default () => ({ sessionKey: "agent:main:main" })')
    assert.equal((await post()).status, 400)
    module("export default () => ({ message: JSON.stringify(process.env) })")
    assert.equal(await lastText(), "{}")
  })

  test("is read again when its file has changed", async () => {
    const name = module("export default () => ({ message: 'old' })")
    assert.equal(await lastText(), "old")
    writeFileSync(join(server.transforms, name), "export default () => ({ message: 'newer' })")
    assert.equal(await lastText(), "newer")
  })

  test("is read again when a file that it imports has changed, however deep", async () => {
    const write = (name: string, text: string) => writeFileSync(join(server.transforms, name), text)
    write("words.mjs", "export const word = 'old'")
    write("between.mjs", "export { word } from './words.mjs'")
    module("import { word } from './between.mjs'; export default () => ({ message: word })")
    assert.equal(await lastText(), "old")
    write("words.mjs", "export const word = 'newer'")
    assert.equal(await lastText(), "newer")
  })

  test("is loaded anew with the next call after it could not be", async () => {
    const words = join(server.transforms, "words.json")
    module(
      `import { readFileSync } from "node:fs"
       const { word } = JSON.parse(readFileSync(${JSON.stringify(words)}, "utf8"))
       export default () => ({ message: word })`,
    )
    assert.equal((await post()).status, 500)
    writeFileSync(words, '{"word":"there by now"}')
    assert.equal(await lastText(), "there by now")
  })

  test("imports nothing that a link or a path leads to outside its folder", async () => {
    const outside = join(server.transforms, "..", "outside.mjs")
    writeFileSync(outside, "export const word = 'outside'")
    symlinkSync(outside, join(server.transforms, "away.mjs"))
    for (const from of ["./away.mjs", "../outside.mjs"]) {
      module(`import { word } from '${from}'; export default () => ({ message: word })`)
      assert.equal((await post()).status, 500, from)
    }
  })

  test("is ended when it keeps Buffers, and begins anew with the next call", async () => {
    module(
      "const kept = []; export default () => { kept.push(Buffer.alloc(20e6, 1)); return { message: String(kept.length) } }",
    )
    const before = process.memoryUsage.rss()
    const counts: number[] = []
    for (let count = 0; count < 40; count += 1) {
      const answer = await post()
      if (answer.status === 202) counts.push(Number(inputs().at(-1).text))
    }
    assert.ok(Math.max(...counts) < 30, `it kept ${Math.max(...counts)} times 20 MB`)
    assert.ok(process.memoryUsage.rss() - before < 600e6)
  })

  test("does not run again for a repeat", async () => {
    module("let n = 0; export default () => ({ message: 'call ' + ++n })", { dedupe: true })
    const first = await post({ x: 1 })
    assert.deepEqual((await post({ x: 1 })).json, { ...first.json, duplicate: true })
    assert.equal((await post({ x: 2 })).status, 202)
    assert.deepEqual(
      inputs().map((input) => input.text),
      ["call 1", "call 2"],
    )
  })
})

describe("a transform that fails costs a 500 without details, and the gateway goes on", () => {
  const faults: Record<string, string> = {
    "it throws": "export default () => { throw new Error('inner words') }",
    "it rejects": "export default async () => { await null; throw new Error('inner words') }",
    "it returns a wrong type": "export default () => ({ message: 5, note: 'inner words' })",
    "it returns a number": "export default () => 5",
    "it returns what is no JSON": "export default () => ({ message: 1n })",
    "it has no function": "export default 'inner words'",
    "it cannot be parsed": "export default ( inner words",
    "it imports what is not there": "import './inner-words.mjs'; export default () => ({})",
    "it loops for ever": "export default () => { for (;;); }",
    "it loops for ever in a promise": "export default async () => { await null; for (;;); }",
    "it never ends": "export default () => new Promise(() => setInterval(() => 1, 1000))",
    "it ends its thread": "export default () => process.exit(0)",
    "it takes all memory outside its heap":
      "export default () => { const all = []; for (;;) all.push(Buffer.alloc(1e6, 1)) }",
    "it takes all memory":
      "export default () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)) }",
    "it overflows the stack": "export default function deep() { return deep() + 1 }",
  }
  for (const [what, source] of Object.entries(faults)) {
    test(what, async () => {
      module(source)
      const answer = await post()
      assert.equal(answer.status, 500)
      assert.equal(answer.json.error.message, "hook mapping failed")
      assert.ok(!answer.text.includes("inner"))
      module("export default () => ({ message: 'fine' })")
      assert.equal(await lastText(), "fine")
    })
  }

  test("the log has the details, and calls that waited behind an endless loop are made again", async () => {
    assert.match(server.logged(), /inner words/)
    module("export default ({ payload }) => { if (payload.loop) for (;;); return { message: 'done ' + payload.n } }")
    await post({ n: 0 })
    const answers = await Promise.all([{ loop: true }, { n: 1 }, { n: 2 }].map((body) => post(body)))
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [500, 202, 202],
    )
  })
})

test("a call behind one that has answered and left a loop is made again", { timeout: 20_000 }, async (context) => {
  const name = module(
    `export default ({ payload }) => {
         let later = Promise.resolve()
         for (let step = 0; step < 50; step += 1) later = later.then(() => undefined)
         if (payload.loop) void later.then(() => { for (;;); })
         return { message: "done" }
       }`,
  )
  const { log } = createLog({
    folder: join(server.transforms, "..", "logs-of-loop"),
    level: "error",
    redactor: createRedactor(),
  })
  const folder = () => server.transforms
  const transforms = createTransforms({ folder, clock: systemClock, log, timeLimitMs: 400 })
  context.after(() => transforms.stop())
  const call = (payload: { loop?: boolean }) =>
    transforms.run({ module: name }, { payload, headers: {}, url: "http://localhost/t", path: "t" })
  await call({})
  // Both are asked for before the thread can have answered the first, and it never comes to the second.
  const answers = await Promise.all([call({ loop: true }), call({})])
  assert.deepEqual(answers, [{ message: "done" }, { message: "done" }])
})

describe("a module", () => {
  const marker = join(tmpdir(), `svc-transform-marker-${process.pid}`)
  const evil = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, "x"); export default () => ({})`
  after(() => rmSync(marker, { force: true }))

  test("outside the folder is refused by the configuration", () => {
    const modules = [
      "../evil.js",
      "/elsewhere/evil.js",
      "file:///evil.js",
      "%2e%2e/evil.js",
      "a/../../evil.js",
      "a\\..\\evil.js",
      "././evil.js",
      "evil.json",
      "evil",
      "a//evil.js",
      ".js",
      "https://x/y.js",
    ]
    for (const name of modules) {
      assert.throws(() => hooksConfig({ mappings: [{ transform: { module: name } }] }), name)
    }
    hooksConfig({ mappings: [{ transform: { module: "in/a folder/fine-1.mjs" } }] })
  })

  test("reached through a link is refused, also when the link is made later; nothing of it runs", async () => {
    const outside = join(server.transforms, "..", "outside")
    mkdirSync(outside)
    writeFileSync(join(outside, "evil.mjs"), evil)
    symlinkSync(join(outside, "evil.mjs"), join(server.transforms, "link.mjs"))
    symlinkSync(outside, join(server.transforms, "folder"))
    for (const name of ["link.mjs", "folder/evil.mjs", "missing.mjs"]) {
      server.configure({ mappings: [{ match: { path: "t" }, transform: { module: name }, messageTemplate: "m" }] })
      assert.equal((await post()).status, 500, name)
    }
    const name = module("export default () => ({ message: 'fine' })")
    assert.equal(await lastText(), "fine")
    rmSync(join(server.transforms, name))
    symlinkSync(join(outside, "evil.mjs"), join(server.transforms, name))
    assert.equal((await post()).status, 500)
    assert.equal(existsSync(marker), false)
  })
})
