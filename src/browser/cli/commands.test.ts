// What each command of `svc browser` asks the control service for, and how it tells the answer: the service itself is played
// here, each of its answers is one that `surfaces.test.ts` has of the real one.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { Command } from "commander"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { type BrowserCall, type BrowserCommandIo, registerBrowserCommands } from "../cli.ts"

type Asked = { method: string; path: string } & Pick<BrowserCall, "query" | "body" | "timeoutMs">

async function run(words: readonly string[], answer: (asked: Asked) => unknown = () => ({})) {
  const asked: Asked[] = []
  const printed: string[] = []
  const notes: string[] = []
  let hasFailed = false
  const io: BrowserCommandIo = {
    async call(method, path, { query, body, timeoutMs }) {
      const plain = JSON.parse(JSON.stringify({ method, path, query, body, timeoutMs })) as Asked
      asked.push(plain)
      return answer(plain)
    },
    lend: async (path) => `lent-${path}`,
    place: async (_from, wanted, name) => `/placed/${wanted}/${name}`,
    print: (text) => printed.push(text),
    named: (text) => text,
    printJson: (value) => printed.push(JSON.stringify(value)),
    failed: () => (hasFailed = true),
    note: (line) => notes.push(line),
    ask: async ({ message }) => void printed.push(`asked: ${message}`),
  }
  const program = new Command().exitOverride()
  registerBrowserCommands(program, io)
  await program.parseAsync(["browser", ...words], { from: "user" })
  return { asked, printed: printed.join("\n"), notes, hasFailed: () => hasFailed }
}

const page = { ok: true, targetId: "T", url: "https://a.example/\u001b[2J", title: "A" }

test("acts with what its options say, for as long as they say, in the tab and browser that they name", async () => {
  const tab = ["--target-id", "T", "--browser-profile", "work", "--node", "laptop"]
  const { asked } = await run(["press", "Tab", ...tab], () => page)
  assert.deepEqual(asked, [
    {
      method: "POST",
      path: "/act",
      query: { profile: "work", node: "laptop" },
      body: { kind: "press", key: "Tab", targetId: "T" },
      timeoutMs: 8_000 + 15_000 + 60_000,
    },
  ])
  for (const [words, body, ms, prints] of [
    [["click", "5"], { kind: "click", ref: "5" }, 8_000, "clicked ref 5 on https://a.example/ [2J"],
    [
      ["click", "--x", "1", "--y", "2", "--double", "--button", "right", "--modifiers", "Shift,,Alt"],
      { kind: "click", x: "1", y: "2", doubleClick: true, button: "right", modifiers: ["Shift", "Alt"] },
      8_000,
      "clicked the point 1, 2 on https://a.example/ [2J",
    ],
    [
      ["click", "5", "--x", "1", "--y", "2", "--timeout-ms", "900", "--snapshot"],
      { kind: "click", ref: "5", x: "1", y: "2", timeoutMs: "900", snapshot: "efficient" },
      900,
      "clicked ref 5 at 1, 2 on https://a.example/ [2J",
    ],
    [
      ["type", "5", "four", "--submit", "--slowly", "--mode", "append", "--snapshot", "diff"],
      { kind: "type", ref: "5", text: "four", submit: true, slowly: true, mode: "append", snapshot: "diff" },
      8_000 + 4 * 150,
      "typed into ref 5",
    ],
    [["hover", "5"], { kind: "hover", ref: "5" }, 8_000, "hovering over ref 5"],
    [
      ["scroll", "--direction", "up", "--pixels", "3"],
      { kind: "scroll", direction: "up", pixels: "3" },
      20_000,
      "scrolled",
    ],
    [["scrollintoview", "5"], { kind: "scrollIntoView", ref: "5" }, 20_000, "scrolled to ref 5"],
    [
      ["drag", "1", "2", "--place", "after"],
      { kind: "drag", startRef: "1", endRef: "2", place: "after" },
      8_000,
      "dragged 1 → 2",
    ],
    [
      ["drag", "--start-x", "1", "--start-y", "2", "--end-x", "3", "--end-y", "4"],
      { kind: "drag", startX: "1", startY: "2", endX: "3", endY: "4" },
      8_000,
      "dragged 1,2 → 3,4",
    ],
    [["select", "5", "a", "b"], { kind: "select", ref: "5", values: ["a", "b"] }, 8_000, "selected a, b in ref 5"],
    [["fill", "--fields", "[1,2]"], { kind: "fill", fields: [1, 2] }, 8_000, "filled 2 field(s)"],
    [
      ["wait", "#a", "--time", "500", "--text", "b", "--text-gone", "c", "--url", "d", "--load", "load", "--fn", "e"],
      { kind: "wait", selector: "#a", timeMs: "500", text: "b", textGone: "c", url: "d", loadState: "load", fn: "e" },
      20_000 + 500,
      "wait complete",
    ],
    [["evaluate", "--fn", "1", "--ref", "5"], { kind: "evaluate", fn: "1", ref: "5" }, 20_000, "no result"],
    [["set", "viewport", "5", "6"], { kind: "resize", width: "5", height: "6" }, 8_000, "viewport 5x6"],
  ] as const) {
    const told = await run(words, () => page)
    assert.deepEqual(told.asked[0]?.body, body, words.join(" "))
    assert.equal(told.asked[0]?.timeoutMs, ms + 75_000, words.join(" "))
    assert.equal(told.printed, prints)
  }
})

test("tells what an act has led to", async () => {
  const dialog = { type: "confirm", message: "Really\n\u001b[31m?" }
  for (const [words, more, prints] of [
    [["press", "x"], { dialog, snapshot: "- button" }, "pressed x; the page asks (confirm): Really [31m?\n- button"],
    [["press", "x"], { closed: true }, "pressed x; the page closed its tab"],
    [["scroll"], { scrolled: false }, "nothing left to scroll"],
    [["evaluate", "--fn", "1"], { result: { a: 1 } }, '{\n  "a": 1\n}'],
    [["evaluate", "--fn", "1"], { closed: true }, "no result; the page closed its tab"],
    [["navigate", "x"], { snapshot: "- link" }, "navigated to https://a.example/ [2J\n- link"],
    [["dialog", "--accept"], { armed: true }, "dialog armed"],
    [["dialog", "--dismiss"], {}, "dialog answered"],
    [["requests"], { requests: [] }, "no requests"],
    [
      ["requests"],
      {
        requests: [
          { timestamp: "1", method: "GET", url: "u", status: 404, ok: false },
          { timestamp: "2", method: "PUT", url: "v" },
          { timestamp: "3", method: "GET", url: "w", ok: false, failureText: "gone" },
        ],
      },
      "1 GET 404 fail u\n2 PUT - open v\n3 GET - fail w (gone)",
    ],
    [["errors"], { errors: [{ timestamp: "1", message: "a\nb" }] }, "1 a b"],
    [["tabs"], { running: false, tabs: [] }, "no tabs: the browser is not running"],
    [["tabs"], { running: true, tabs: [] }, "no tabs"],
    [["tabs"], { tabs: [{ title: "", url: "u", targetId: "T" }] }, "1. (untitled)\n   u\n   id: T"],
    [["reset-profile"], { profile: "p", moved: true, to: "/trash" }, "reset profile p; its data is now in /trash"],
    [
      ["stop"],
      { stopped: true, profile: "far", running: true },
      "profile far: disconnected; the browser itself runs on",
    ],
    [["stop"], { stopped: false, profile: "far", running: true }, "profile far: was not connected"],
    [["status"], { profile: "p", pid: null, lastError: "a\nb" }, /^profile: p\n[^]*lastError: a b$/],
    [
      ["downloads"],
      {
        downloads: [
          { targetId: "T", suggestedFilename: "a", receivedBytes: 5, totalBytes: 8 },
          { targetId: "U", suggestedFilename: "b", receivedBytes: 5 },
        ],
      },
      "T downloading a: 5 of 8 (62 %) bytes\nU downloading b: 5 bytes",
    ],
    [["scripts", "list"], { scripts: [] }, "no kept scripts"],
    [
      ["scripts", "list"],
      {
        scripts: [{ name: "buy", sites: ["a", "b"], steps: [1], runs: 1, lastStop: "step 2: timeout", inputs: ["n"] }],
      },
      "buy: 1 steps on a, b, run 1 time; takes n; stopped the last time at step 2: timeout",
    ],
    [
      ["profiles"],
      {
        profiles: [
          { name: "p", running: true, tabCount: 2, isDefault: true, isRemote: true, cdpUrl: "u", color: "c" },
          { name: "q", cdpUrl: null, cdpPort: 5, color: "c" },
          { name: "r", cdpUrl: null, cdpPort: null, color: "c" },
        ],
      },
      "p: running (2 tabs) [default] [remote] u c\nq: stopped port 5 c\nr: stopped no port c",
    ],
    [["create-profile", "p", "--driver", "relay"], { profile: "p", color: "c" }, "created profile p (relay, c)"],
    [
      ["create-profile", "--name", "p"],
      { profile: "p", color: "c", isRemote: true, cdpUrl: "u" },
      "created profile p (remote, u, c)",
    ],
    [["delete-profile", "p"], { profile: "p", to: "/trash" }, "deleted profile p; its data is now in /trash"],
    [["set", "geo", "--clear"], {}, "geolocation cleared"],
    [["set", "headers", "--clear"], {}, "headers cleared"],
    [["set", "device", "--clear"], {}, "device cleared"],
    [["set", "credentials", "--clear"], {}, "credentials cleared"],
    [["upload", "a", "b", "--ref", "5"], {}, "upload armed for 2 file(s)"],
    [["upload", "a", "--element", "input"], {}, "uploaded 1 file(s)"],
    [
      ["snapshot", "--format", "aria"],
      {
        format: "aria",
        nodes: [
          { role: "main", name: "", depth: 0 },
          { role: "textbox", name: "N", value: "v", depth: 30 },
        ],
      },
      `- main\n${"  ".repeat(20)}- textbox "N" = "v"`,
    ],
    [["snapshot", "--labels"], { format: "ai", snapshot: "- a", imagePath: "/p.png" }, "- a\nMEDIA:/p.png"],
  ] as const) {
    const told = await run(words, () => ({ ...page, ...more }))
    if (typeof prints === "string") assert.equal(told.printed, prints)
    else assert.match(told.printed, prints)
  }
})

test("asks for a snapshot as the configuration has it only where nothing is asked for", async () => {
  for (const [words, query] of [
    [[], { mode: "default" }],
    [["--diff", "--max-chars", "5", "--limit", "6"], { mode: "default", diff: true, maxChars: "5", limit: "6" }],
    [["--interactive"], { interactive: true }],
    [["--efficient", "--depth", "2"], { mode: "efficient", depth: "2" }],
    [["--mode", "full", "--frame", "f"], { mode: "full", frame: "f" }],
  ] as const) {
    const { asked } = await run(["snapshot", ...words], () => ({ ...page, format: "ai", snapshot: "" }))
    assert.deepEqual(asked[0]?.query, query, words.join(" "))
    assert.equal(asked[0]?.timeoutMs, 30_000 + 60_000)
  }
})

test("tells how a script went, and fails where it stopped", async () => {
  const file = join(temporaryFolder(), "script.json")
  const steps = [{ kind: "press", key: "x" }]
  writeFileSync(file, JSON.stringify({ steps, values: { a: 1, b: 2 } }))
  const stopped = { step: "2.1", round: 3, code: "timeout", message: "late\n", hint: "Wait" }
  const reply = {
    done: 1,
    values: { a: "x\ny", l: [1] },
    stopped,
    kept: "k",
    notKept: "no",
    notes: ["n"],
    snapshot: "- s",
  }
  const told = await run(["run", file, "--value", "b=c=d", "--keep", "k", "--timeout-ms", "5000"], () => reply)
  const body = { kind: "run", steps, values: { a: 1, b: "c=d" }, keep: "k", timeoutMs: "5000" }
  assert.deepEqual([told.asked[0]?.body, told.asked[0]?.timeoutMs], [body, 5_000 + 25_000 + 60_000])
  assert.equal(
    told.printed,
    "stopped at step 2.1 (round 3), 1 step done before: timeout: late\nhint: Wait\na: x y\nl: [1]\nkept as k\nnot kept: no\nnote: n\n- s",
  )
  assert.equal(told.hasFailed(), true)
  const kept = await run(["scripts", "run", "a/b"], () => reply)
  assert.deepEqual(kept.asked[0]?.body, { kind: "run", script: "a/b", values: {} })
  assert.deepEqual(
    [kept.hasFailed(), kept.notes.join()],
    [true, "let the agent finish it: the same command with --hand-over"],
  )
  const fine = await run(["scripts", "run", "b"], () => ({ done: 2, values: {} }))
  assert.deepEqual([fine.printed, fine.hasFailed(), fine.notes], ["2 steps done", false, []])
  assert.equal((await run(["scripts", "remove", "a/b"], () => ({ name: "b" }))).asked[0]?.path, "/scripts/a%2Fb")
  for (const [text, message] of [
    ["{", /no JSON/],
    ["5", /must be a list of steps/],
    ['{"steps":[],"values":[]}', /values: must be an object/],
  ] as const) {
    writeFileSync(file, text)
    await assert.rejects(run(["run", file]), { code: "bad-request", message })
  }
  await assert.rejects(run(["run", `${file}.none`]), { message: /could not be read/ })
  writeFileSync(file, "[]")
  await assert.rejects(run(["run", file, "--value", "nothing"]), { message: /must be name=value/ })
})

test("refuses by itself what the service could not know", async () => {
  for (const [words, message] of [
    [["dialog", "--accept", "--dismiss"], /either --accept or --dismiss/],
    [["fill", "--fields", "[]", "--fields-file", "x"], /either --fields or --fields-file/],
    [["fill", "--fields", "{}"], /not a JSON array/],
    [["fill", "--fields-file", "/nowhere"], /not a JSON array/],
    [["set", "headers", "x"], /not a JSON object/],
    [["cookies", "set", "a", "b"], /--url/],
    [["create-profile", "a", "--name", "b"], /one name/],
    [["delete-profile"], /one name/],
  ] as const)
    await assert.rejects(run(words), { code: "bad-request", message }, words.join(" "))
  const two = { tabs: [{ targetId: "A" }, { targetId: "B" }] }
  const closed = await run(["tab", "close", "2"], () => two)
  assert.deepEqual(
    closed.asked.map(({ method, path }) => `${method} ${path}`),
    ["GET /tabs", "DELETE /tabs/B"],
  )
  for (const index of ["0", "3", "x", "1.0"])
    await assert.rejects(
      run(["tab", "select", index], () => two),
      { code: "tab-not-found", message: /there are 2/ },
    )
})

test("puts a download where the person wants it, and leaves it where it is without that", async () => {
  const answer = () => ({ download: { path: "/d/x", suggestedFilename: "a.zip", bytes: 2 } })
  const wanted = await run(["download", "5", "there", "--timeout-ms", "900"], answer)
  assert.equal(wanted.printed, "downloaded: /placed/there/a.zip (2 bytes)")
  assert.deepEqual([wanted.asked[0]?.path, wanted.asked[0]?.body?.["ref"]], ["/download", "5"])
  assert.match(String(wanted.asked[0]?.body?.["path"]), /^[\da-f-]{36}$/)
  assert.equal(wanted.asked[0]?.timeoutMs, 20_900 + 60_000)
  const next = await run(["waitfordownload"], answer)
  assert.deepEqual(
    [next.asked[0]?.path, next.asked[0]?.body, next.printed],
    ["/wait/download", {}, "downloaded: /d/x (2 bytes)"],
  )
  assert.equal(next.asked[0]?.timeoutMs, 140_000 + 60_000)
})
