// What is kept of a page's console, errors and requests, and how they are told.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { Recorder } from "./recorder.ts"

async function record() {
  const browser = new ScriptedBrowser()
  const recorder = new Recorder()
  const event = (method: string, params: object) => browser.event(method, params, "S1")
  await recorder.watch(browser.connection.session("S1"), new AbortController().signal)
  const log = (type: string, ...args: object[]) => event("Runtime.consoleAPICalled", { type, args, timestamp: 0 })
  const entry = (parts: object) =>
    event("Log.entryAdded", { entry: { source: "network", level: "error", text: "404", timestamp: 0, ...parts } })
  const ask = (requestId: string, parts: object = {}) =>
    event("Network.requestWillBeSent", {
      requestId,
      request: { url: `https://a.example/${requestId}`, method: "GET" },
      type: "Fetch",
      wallTime: 1,
      ...parts,
    })
  return { browser, recorder, event, log, entry, ask, released: () => browser.count("Runtime.releaseObjectGroup") }
}

const word = (value: string) => ({ type: "string", value })

test("tells what a page wrote as words, with the place that wrote it", async () => {
  const { recorder, log, event } = await record()
  log(
    "log",
    word("a"),
    { type: "number", value: 5 },
    { type: "object", value: { b: 1 } },
    { type: "number", unserializableValue: "NaN" },
    { type: "object", description: "Map(2)" },
    { type: "undefined" },
  )
  const callFrames = [{ url: "u".repeat(3_000), lineNumber: 3, columnNumber: 4 }, { url: "outer" }]
  event("Runtime.consoleAPICalled", {
    type: "info",
    args: [word("x".repeat(5_000))],
    timestamp: 0,
    stackTrace: { callFrames },
  })
  const [first, second] = recorder.console(undefined)
  assert.deepEqual(first, {
    type: "log",
    text: 'a 5 {"b":1} NaN Map(2) undefined',
    timestamp: "1970-01-01T00:00:00.000Z",
  })
  assert.deepEqual(second?.location, { url: "u".repeat(2_000), lineNumber: 3, columnNumber: 4 })
  assert.equal(second?.text.length, 4_000)
})

test("tells of a level what is of it and above", async () => {
  const { recorder, log, entry } = await record()
  for (const type of ["debug", "log", "table", "warning", "error", "assert"]) log(type, word(type))
  entry({ level: "verbose", text: "verbose" })
  const texts = (level?: string) => recorder.console(level).map(({ text }) => text)
  assert.deepEqual(texts("error"), ["error", "assert"])
  assert.deepEqual(texts("warning"), ["warning", "error", "assert"])
  assert.deepEqual(texts("info"), ["log", "table", "warning", "error", "assert"])
  assert.equal(texts("debug").length, 7)
  assert.equal(texts().length, 7)
})

test("has what the browser says of the page, and nothing of workers and the tab's icon", async () => {
  const { recorder, entry } = await record()
  entry({ url: "https://a.example/x.png", lineNumber: 2 })
  entry({ source: "worker" })
  entry({ url: "https://a.example/favicon.ico?v=2" })
  entry({ source: "security", url: "https://a.example/favicon.ico" })
  entry({ text: "x".repeat(5_000) })
  entry({ url: "u".repeat(3_000) })
  const long = recorder.console("error").slice(-2)
  assert.deepEqual([long[0]?.text.length, long[1]?.location?.url.length], [4_000, 2_000])
  assert.deepEqual(
    recorder
      .console("error")
      .slice(0, -1)
      .map(({ location }) => location),
    [
      { url: "https://a.example/x.png", lineNumber: 2, columnNumber: 0 },
      { url: "https://a.example/favicon.ico", lineNumber: 0, columnNumber: 0 },
      undefined,
    ],
  )
})

test("lets go of what a page handed to its console, and of nothing else", async () => {
  const { recorder, log, entry, released } = await record()
  log("log", word("a"))
  entry({ args: [word("a")] })
  assert.equal(released(), 0)
  log("log", word("a"), { type: "object", objectId: "1", description: "Object" })
  entry({ args: [{ type: "object", objectId: "2" }] })
  assert.equal(released(), 2)
  recorder.isPaused = true
  log("log", { type: "object", objectId: "3" })
  assert.equal(released(), 3, "also while nothing is kept")
})

test("tells errors by their first line, whatever was thrown, until they are cleared", async () => {
  const { recorder, event } = await record()
  const fail = (exceptionDetails: object) => event("Runtime.exceptionThrown", { timestamp: 0, exceptionDetails })
  const stack = `TypeError: no\n${"x".repeat(5_000)}`
  fail({ text: "Uncaught", exception: { type: "object", className: "TypeError", description: stack } })
  fail({ text: "Uncaught", exception: word("words") })
  fail({ text: "Uncaught SyntaxError" })
  const all = recorder.errors(false)
  assert.deepEqual(
    all.map(({ message, name }) => [message, name]),
    [
      ["TypeError: no", "TypeError"],
      ["Uncaught words", undefined],
      ["Uncaught SyntaxError", undefined],
    ],
  )
  assert.equal(all[0]?.stack?.length, 4_000)
  assert.equal(recorder.errors(true).length, 3)
  assert.deepEqual(recorder.errors(false), [])
})

test("tells of requests how they ended, redirects as requests of their own", async () => {
  const { recorder, event, ask } = await record()
  const answer = (requestId: string, status: number) =>
    event("Network.responseReceived", { requestId, response: { status } })
  ask("plain")
  answer("plain", 399)
  event("Network.loadingFinished", { requestId: "plain" })
  answer("plain", 500)
  ask("moved", { request: { url: "https://a.example/old", method: "POST" } })
  ask("moved", { redirectResponse: { status: 302 }, type: undefined })
  answer("moved", 404)
  ask("failed")
  event("Network.loadingFailed", { requestId: "failed", errorText: "net::ERR_FAILED" })
  answer("failed", 200)
  assert.deepEqual(
    recorder
      .requests("", false)
      .map(({ id, method, url, resourceType, status, ok, failureText }) =>
        [id, method, url.slice(18), resourceType, status, ok, failureText].join(" "),
      ),
    [
      "r1 GET plain fetch 399 true ",
      "r2 POST old fetch 302 true ",
      "r3 GET moved other 404 false ",
      "r4 GET failed fetch  false net::ERR_FAILED",
    ],
  )
  assert.equal(recorder.requests("", false)[0]?.timestamp, "1970-01-01T00:00:01.000Z")
  assert.deepEqual(
    recorder.requests("fail", true).map(({ id }) => id),
    ["r4"],
  )
  assert.deepEqual(recorder.requests("", false), [])
  ask("next")
  assert.equal(recorder.requests("", false)[0]?.id, "r5", "a number is given once")
})

test("keeps the last of each, and nothing of what happens while a person has the tab", async () => {
  const { recorder, event, log, entry, ask } = await record()
  recorder.isPaused = true
  log("log", word("secret"))
  entry({})
  ask("secret")
  event("Runtime.exceptionThrown", { timestamp: 0, exceptionDetails: { text: "secret" } })
  assert.deepEqual([recorder.console(undefined), recorder.errors(false), recorder.requests("", false)], [[], [], []])
  recorder.isPaused = false
  for (let number = 0; number <= 500; number += 1) {
    log("log", word(String(number)))
    ask(String(number))
    event("Runtime.exceptionThrown", { timestamp: 0, exceptionDetails: { text: String(number) } })
  }
  const kept = [recorder.console(undefined), recorder.errors(false), recorder.requests("", false)]
  assert.deepEqual(
    kept.map(({ length }) => length),
    [500, 200, 500],
  )
  assert.deepEqual([recorder.console(undefined)[0]?.text, recorder.errors(false)[0]?.message], ["1", "301"])
  event("Network.responseReceived", { requestId: "500", response: { status: 200 } })
  event("Network.responseReceived", { requestId: "1", response: { status: 400 } })
  const [newest, oldest] = [recorder.requests("/500", false)[0], recorder.requests("/1", false)[0]]
  assert.deepEqual([newest?.status, newest?.ok, oldest?.status, oldest?.ok], [200, true, 400, false])
  ask("long", { request: { url: `https://a.example/${"x".repeat(3_000)}`, method: "GET" } })
  assert.equal(recorder.requests("", false).at(-1)?.url.length, 2_000)
})

test("records a page whose log cannot be had", async () => {
  const browser = new ScriptedBrowser()
  browser.answer("Log.enable", () => {
    throw new Error("not allowed")
  })
  await new Recorder().watch(browser.connection.session("S1"), new AbortController().signal)
  assert.equal(browser.count("Runtime.enable"), 1)
})
