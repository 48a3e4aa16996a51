import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import { AppError } from "../../kernel/index.ts"
import { ProviderRefusal, ProviderReport } from "../providers/contract.ts"
import {
  ask,
  bodyOf,
  chunk,
  data,
  done,
  gather,
  readPieces,
  startByteServer,
  step,
  type ByteServer,
} from "./chat-completions.fixture.ts"
import { createChatCompletions } from "./index.ts"
import { decodeEvents, type ServerEvent } from "./sse.ts"

const hello = chunk({ content: "Hé" }) + chunk({ content: "llo 🌍" }) + chunk({}, "stop") + done

async function decode(pieces: (string | Uint8Array)[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of decodeEvents(bodyOf(pieces))) events.push(event)
  return events
}

describe("server-sent events", () => {
  const body =
    "\uFEFF: hi\r\nevent: a\rdata:1\r\ndata: 2\n\n: ping\n\nid: 7\r\n\r\ndata: é🌍\r\n\r\nretry: 5\n\ndata:  x"
  const expected = [{ event: "a", data: "1\n2" }, { data: "é🌍" }, { data: " x" }]

  test("have any line ends, comments, a BOM, several data lines and no blank line at the end", async () => {
    assert.deepEqual(await decode([body]), expected)
  })

  test("are the same wherever the bytes are cut", async () => {
    const bytes = new TextEncoder().encode(body)
    for (let at = 1; at < bytes.length; at += 1) {
      assert.deepEqual(await decode([bytes.subarray(0, at), bytes.subarray(at)]), expected, `cut at ${at}`)
    }
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    assert.deepEqual(await decode(single), expected)
  })

  test("are values of JSON without a field as well, one a line or one over many lines", async () => {
    const events = await decode(['{"a":"}"}\n{"b":[1]}{"c":1}\n\n{\n  "d": {\n\n  }\n}\n[DONE]\n'])
    const texts = events.map((event) => event.data.replaceAll(/\s/g, ""))
    assert.deepEqual(texts, ['{"a":"}"}', '{"b":[1]}', '{"c":1}', '{"d":{}}', "[DONE]"])
  })

  test("hand lines that belong to no event to who asks for them", async () => {
    const stray: string[] = []
    const events = decodeEvents(bodyOf(["upstream timed out\n\ndata: 1\n\n"]), { stray: (line) => stray.push(line) })
    assert.equal((await events.next()).value?.data, "1")
    assert.equal((await events.next()).done, true)
    assert.deepEqual(stray, ["upstream timed out"])
  })

  test("cost time in proportion to their size when a line comes in very many pieces", async () => {
    const pieces = Array.from({ length: 200_000 }, () => "0123456789")
    const [event] = await decode(["data: ", ...pieces, "\n\n"])
    assert.equal(event?.data.length, 2_000_000)
  })
})

describe("a stream", () => {
  test("is read alike wherever it is cut", async () => {
    const bytes = new TextEncoder().encode(hello)
    const whole = await readPieces([bytes])
    assert.equal(gather(whole).text, "Héllo 🌍")
    for (let at = 1; at < bytes.length; at += 1) {
      assert.deepEqual(await readPieces([bytes.subarray(0, at), bytes.subarray(at)]), whole, `cut at ${at}`)
    }
  })

  const bodies: Record<string, string> = {
    "has no [DONE]": hello.replace(done, ""),
    "has no blank line at the end": hello.replace(done, "").trimEnd(),
    "has no blank lines at all": hello.replaceAll("\n\n", "\n"),
    "has no space behind the colon": hello.replaceAll("data: ", "data:"),
    "has no finish reason, but [DONE]": chunk({ content: "Héllo 🌍" }) + done,
    "comes as a value of JSON a line": hello.replaceAll("data: ", "").replaceAll("\n\n", "\n"),
    "has comments, pings and empty events": `: PROCESSING\n\nevent: ping\ndata:\n\n${hello.replaceAll("\n\n", "\n\n: ping\n\n")}`,
    "is a whole completion": JSON.stringify({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "Héllo 🌍" }, finish_reason: "stop" }],
    }),
    "is a whole completion over many lines, without a finish reason": JSON.stringify(
      { choices: [{ message: { content: "Héllo 🌍" } }] },
      null,
      2,
    ),
    "says message for delta": hello.replaceAll('"delta"', '"message"'),
    "says everything once more at the end": `${chunk({ content: "Héllo 🌍" })}${data({
      choices: [{ delta: {}, message: { content: "Héllo 🌍" }, finish_reason: "stop" }],
    })}`,
    "has null everywhere": data({
      id: null,
      error: null,
      usage: null,
      choices: [
        {
          index: null,
          delta: {
            role: null,
            content: "Héllo 🌍",
            refusal: null,
            reasoning: null,
            tool_calls: null,
            function_call: null,
          },
          finish_reason: null,
        },
      ],
    }).concat(chunk({ content: null }, "stop", { x_groq: null, timings: null })),
    "has chunks with empty or missing choices": `${data({ choices: [] })}${data({ id: "x", choices: null })}${data({ object: "x" })}${hello}`,
    "begins with the role alone": chunk({ role: "assistant" }) + chunk({ role: "assistant", content: "" }) + hello,
    "has an empty finish reason in every chunk": hello.replaceAll("null", '""'),
    "goes on behind the finish reason": chunk({ content: "Hé" }, "stop") + chunk({ content: "llo 🌍" }) + done,
    "has rubbish between its chunks":
      chunk({ content: "Hé" }) + data("oops") + "rubbish\n" + chunk({ content: "llo 🌍" }, "stop"),
  }
  for (const [name, body] of Object.entries(bodies)) {
    test(`that ${name} is a reply`, async () => {
      const { text, reason } = gather(await readPieces([body]))
      assert.deepEqual({ text, reason }, { text: "Héllo 🌍", reason: "stop" })
    })
  }

  test("that ends without finish reason and [DONE] is cut", async () => {
    for (const body of [chunk({ content: "Hel" }), "", done, ": ping\n\n", chunk({ role: "assistant" }) + done]) {
      await assert.rejects(readPieces([body]), { code: "STREAM_CUT", message: /ended before the reply was complete/ })
    }
  })

  test("that ends within a tool call without saying so is cut", async () => {
    const call = { index: 0, id: "a", function: { name: "look", arguments: '{"wor' } }
    await assert.rejects(readPieces([chunk({ tool_calls: [call] })]), { code: "STREAM_CUT" })
  })
})

describe("over the network", () => {
  let server: ByteServer
  beforeEach(async () => {
    server = await startByteServer()
  })
  afterEach(() => server.stop())

  for (const type of ["application/json", "text/plain", "application/octet-stream", ""]) {
    test(`a stream under the content type "${type}" is read`, async () => {
      server.reply = { headers: type === "" ? {} : { "content-type": type }, body: hello }
      assert.equal(gather(await ask(step(server.url))).text, "Héllo 🌍")
    })
  }

  test("a refusal keeps status, headers and at most 64 KB of the body", async () => {
    const body = JSON.stringify({ error: { message: "Slow down" } }).padEnd(100_000)
    server.reply = { status: 429, headers: { "content-type": "application/json", "retry-after": "7" }, body }
    await assert.rejects(ask(step(server.url)), (error: unknown) => {
      assert.ok(error instanceof ProviderRefusal)
      assert.equal(error.status, 429)
      assert.equal(error.headers["retry-after"], "7")
      assert.equal(error.body, body.slice(0, 65_536))
      return true
    })
  })

  test("a refusal whose body breaks off is a refusal all the same", async () => {
    server.reply = { status: 503, body: "Overloa", after: "break" }
    await assert.rejects(ask(step(server.url)), (error: unknown) => {
      assert.ok(error instanceof ProviderRefusal)
      assert.deepEqual([error.status, error.body], [503, "Overloa"])
      return true
    })
  })

  test("a connection that breaks within a reply is an error, and one that breaks behind it is none", async () => {
    server.reply = { body: chunk({ content: "Hel" }), after: "break" }
    await assert.rejects(ask(step(server.url)), (error: unknown) => !(error instanceof ProviderReport))
    server.reply = { body: chunk({ content: "Hello" }, "stop"), after: "break" }
    assert.equal(gather(await ask(step(server.url))).text, "Hello")
  })

  test("a connection that stays open behind the reply holds it up for a bounded time", async () => {
    server.reply = { body: chunk({ content: "Hello" }, "stop"), after: "hold" }
    assert.equal(gather(await ask(step(server.url), { trailingMs: 20 })).text, "Hello")
  })

  test("a connection that stays open and chatters behind the reply does not hold it up", async () => {
    server.reply = { body: chunk({ content: "Hello" }, "stop") + data({ choices: [] }).repeat(500), after: "hold" }
    assert.equal(gather(await ask(step(server.url), { trailingMs: 60_000 })).text, "Hello")
  })

  test("an abort ends the step with its own reason", async () => {
    server.reply = { body: chunk({ content: "Hello" }), after: "hold" }
    const controller = new AbortController()
    const events = createChatCompletions()(step(server.url, { signal: controller.signal }))
    const reason = new Error("The person has changed their mind")
    await assert.rejects(async () => {
      for await (const event of events) if (event.type === "text") controller.abort(reason)
    }, reason)
  })

  test("a reader that stops early closes the connection", { timeout: 10_000 }, async () => {
    server.reply = { body: chunk({ content: "Hello" }), after: "hold" }
    for await (const event of createChatCompletions()(step(server.url))) if (event.type === "text") break
    await server.closed()
  })

  test("a page of HTML is no reply, and the hint names the address", async () => {
    for (const type of ["text/html", "text/plain"]) {
      server.reply = { headers: { "content-type": type }, body: "<!DOCTYPE html>\n<html><body>Sign in</body></html>" }
      await assert.rejects(ask(step(server.url)), (error: unknown) => {
        assert.ok(error instanceof AppError)
        assert.equal(error.code, "model-failed")
        assert.match(error.hint ?? "", /baseUrl/)
        return true
      })
    }
  })
})

describe("an error inside a reply of status 200", () => {
  const inner = { message: "Overloaded", type: "overloaded_error", code: 529 }
  const reports: [string, string, unknown][] = [
    ["as an object", JSON.stringify({ error: inner }), inner],
    ["as text with a code beside it", '{"code":"busy","error":"Try later"}', { code: "busy", error: "Try later" }],
    ["in a list", JSON.stringify([{ error: inner }]), inner],
    ["in a chunk", chunk({ content: "Hel" }) + data({ error: inner }), inner],
    ["in a chunk with choices", chunk({ content: "" }, "error", { error: inner }), inner],
    ["in a choice", data({ choices: [{ delta: {}, error: inner, finish_reason: "error" }] }), inner],
    ["as an event", `event: error\n${data({ error: inner })}`, inner],
    ["as an event of text", "event: error\ndata: Overloaded\n\n", "Overloaded"],
    [
      "as the object itself",
      '{"object":"error","message":"Busy","code":40}',
      { object: "error", message: "Busy", code: 40 },
    ],
    ["as a detail", '{"detail":[{"msg":"Field required"}]}', { detail: [{ msg: "Field required" }] }],
    ["as a message alone", '{"message":"Too many tokens","code":"x"}', { message: "Too many tokens", code: "x" }],
    ["as plain text", "upstream connect error", "upstream connect error"],
    ["in a form of its own", '{"base_resp":{"status_code":1008}}', { base_resp: { status_code: 1008 } }],
  ]
  for (const [name, body, report] of reports) {
    test(`${name} is reported as it stood`, async () => {
      await assert.rejects(readPieces([body]), (error: unknown) => {
        assert.ok(error instanceof ProviderReport, String(error))
        assert.deepEqual(error.report, report)
        return true
      })
    })
  }

  for (const reason of ["insufficient_system_resource", "error", "network_error", "abort"]) {
    test(`is the finish reason ${reason} too`, async () => {
      await assert.rejects(readPieces([chunk({ content: "Hel" }, reason)]), (error: unknown) => {
        assert.ok(error instanceof ProviderReport)
        assert.match(JSON.stringify(error.report), new RegExp(reason))
        return true
      })
    })
  }
})
