import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
import type { ContentPart, ModelMessage, Replay, ToolCall } from "../contract.ts"
import type { PreparedMessage } from "../providers/contract.ts"
import { type PrepareOptions, needsReplay, prepareConversation } from "./prepare.ts"

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })
const call = (id: string, name = "look", input: ToolCall["input"] = {}): ToolCall => ({ id, name, input })
const assistant = (text: string, toolCalls: ToolCall[] = [], replay?: Replay): ModelMessage => ({
  role: "assistant",
  text,
  toolCalls,
  ...(replay ? { replay } : {}),
})
const results = (...ids: string[]): ModelMessage => ({
  role: "tool",
  results: ids.map((callId) => ({
    callId,
    toolName: "look",
    content: [{ type: "text", text: "seen" }],
    isError: false,
  })),
})
const picture: ContentPart = { type: "image", mediaType: "image/png", data: "aGk=" }

function prepare(messages: ModelMessage[], options: Partial<PrepareOptions> = {}): PreparedMessage[] {
  return prepareConversation(messages, { source: "anthropic:one", vision: true, callIds: "any", ...options })
}

/** Roles with the ids of calls and results. */
function outline(messages: readonly PreparedMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === "user") return "user"
    if (message.role === "tool") return `tool ${message.results.map((result) => result.callId).join(" ")}`
    const parts = message.parts.map((part) => (part.type === "call" ? `call:${part.id}` : part.type))
    return `assistant ${parts.join(" ")}`
  })
}

describe("what providers refuse for its form", () => {
  test("blank texts are left out, and a message that says nothing is not there", () => {
    const prepared = prepare([
      user("hi"),
      assistant(" \n"),
      user("\t"),
      assistant("", [call("a")]),
      results("a"),
      user(""),
    ])
    assert.deepEqual(outline(prepared), ["user", "assistant call:a", "tool a"])
  })

  test("each call has its result right behind it, in the order of the calls, made up where it is missing", () => {
    const prepared = prepare([user("x"), assistant("", [call("a"), call("b")]), results("b"), user("and?")])
    assert.deepEqual(outline(prepared), ["user", "assistant call:a call:b", "tool a b", "assistant text", "user"])
    const tool = prepared[2]
    assert.ok(tool?.role === "tool" && tool.results[0]?.isError && !tool.results[1]?.isError)
  })

  test("results without a call are left out", () => {
    assert.deepEqual(outline(prepare([user("x"), results("ghost"), assistant("ok"), user("y")])), [
      "user",
      "assistant text",
      "user",
    ])
  })

  test("the conversation begins and ends with a user or a result, and roles alternate", () => {
    const prepared = prepare([assistant("a"), assistant("b"), user("1"), user("2"), assistant("end")])
    assert.deepEqual(outline(prepared), ["user", "assistant text text", "user", "assistant text", "user"])
  })

  test("an empty conversation still asks something", () => {
    assert.deepEqual(outline(prepare([])), ["user"])
    assert.deepEqual(outline(prepare([user(" ")])), ["user"])
  })

  test("names of tools and ids of calls get a form that all take, the same for call and result", () => {
    const strange = call("functions.look:0", "skill<|channel|>json")
    const prepared = prepare([user("x"), assistant("", [strange]), results("functions.look:0")])
    const [, said, came] = prepared
    assert.ok(said?.role === "assistant" && came?.role === "tool")
    const sent = said.parts[0]
    assert.ok(sent?.type === "call")
    assert.match(sent.id, /^[a-zA-Z0-9_-]{1,64}$/)
    assert.equal(sent.name, "skill__channel__json")
    assert.equal(came.results[0]?.callId, sent.id)
    assert.equal(came.results[0]?.toolName, sent.name)
  })

  test("ids of nine letters and digits where the target wants these", () => {
    const prepared = prepare(
      [user("x"), assistant("", [call("call_12345"), call("a1b2c3d4e")]), results("call_12345")],
      {
        callIds: "nine",
      },
    )
    const said = prepared[1]
    assert.ok(said?.role === "assistant")
    const ids = said.parts.map((part) => (part.type === "call" ? part.id : ""))
    for (const id of ids) assert.match(id, /^[a-zA-Z0-9]{9}$/)
    assert.equal(ids[1], "a1b2c3d4e")
  })

  test("an id that comes again in a later reply gets another form there", () => {
    const twice = [user("x"), assistant("", [call("call_0")]), results("call_0")]
    const prepared = prepare([...twice, ...twice.slice(1)])
    const ids = prepared.flatMap((message) =>
      message.role === "tool" ? message.results.map(({ callId }) => callId) : [],
    )
    assert.equal(new Set(ids).size, 2)
    assert.equal(ids[0], "call_0")
  })

  test("input that is no object is put into one", () => {
    const said = prepare([user("x"), assistant("", [call("a", "look", '{"broken')]), results("a")])[1]
    assert.ok(said?.role === "assistant" && said.parts[0]?.type === "call")
    assert.deepEqual(said.parts[0].input, { unreadable_input: '{"broken' })
  })

  test("pictures become words for a model that sees none, in messages and results", () => {
    const seen: ModelMessage = {
      role: "tool",
      results: [{ callId: "a", toolName: "look", content: [picture], isError: false }],
    }
    const messages: ModelMessage[] = [{ role: "user", content: [picture] }, assistant("", [call("a")]), seen]
    assert.equal(JSON.stringify(prepare(messages, { vision: false })).includes("image"), false)
    assert.equal(JSON.stringify(prepare(messages)).split('"image"').length, 3)
  })
})

describe("what the model said itself", () => {
  const replay: Replay = {
    source: "anthropic:one",
    parts: [
      { type: "reasoning", text: "hm", meta: { signature: "s1" } },
      { type: "text", length: 4 },
      { type: "call", id: "functions.look:0", meta: { thoughtSignature: "t" } },
      { type: "reasoning", text: "", meta: { redactedData: "r" } },
      { type: "text", length: 4 },
    ],
  }
  const said = assistant("one two ", [call("functions.look:0")], replay)

  test("goes back to it in its order with its metadata and its own ids", () => {
    const prepared = prepare([user("x"), said, results("functions.look:0")])[1]
    assert.deepEqual(prepared, {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm", meta: { signature: "s1" } },
        { type: "text", text: "one " },
        { type: "call", id: "functions.look:0", name: "look", input: {}, meta: { thoughtSignature: "t" } },
        { type: "reasoning", text: "", meta: { redactedData: "r" } },
        { type: "text", text: "two " },
      ],
    })
  })

  test("goes to another model as its text and its calls", () => {
    const parts = prepare([user("x"), said, results("functions.look:0")], { source: "openai:two" })[1]
    assert.ok(parts?.role === "assistant")
    assert.deepEqual(
      parts.parts.map((part) => part.type),
      ["text", "call"],
    )
    assert.equal(JSON.stringify(parts).includes("signature"), false)
  })

  test("is told as it is now when it was changed since", () => {
    const changed = assistant("one", [call("functions.look:0")], replay)
    const parts = prepare([user("x"), changed, results("functions.look:0")])[1]
    assert.ok(parts?.role === "assistant")
    assert.deepEqual(
      parts.parts.map((part) => part.type),
      ["text", "call"],
    )
  })

  test("is kept apart only where text and calls do not say all", () => {
    const plainCall = { type: "call" as const, id: "a" }
    assert.equal(needsReplay([{ type: "text", length: 3 }, plainCall], [call("a")]), false)
    assert.equal(needsReplay([plainCall, { type: "text", length: 3 }], [call("a")]), true)
    assert.equal(needsReplay([{ type: "reasoning", text: "x" }], []), true)
    assert.equal(needsReplay([{ type: "call", id: "functions.a:0" }], [call("functions.a:0")]), true)
  })
})

test("the mended form holds words and pictures only", () => {
  const replay: Replay = {
    source: "anthropic:one",
    parts: [{ type: "reasoning", text: "hm", meta: { signature: "s" } }],
  }
  const messages = [
    user("x"),
    assistant("Let me look.", [call("a", "look", { q: 1 })], replay),
    results("a"),
    assistant("ok"),
  ]
  const prepared = prepare([...messages, user("y")], { plain: true })
  assert.deepEqual(outline(prepared), ["user", "assistant text", "user", "assistant text", "user"])
  assert.match(JSON.stringify(prepared), /I called the tool look with \{\\"q\\":1\}/)
  assert.match(JSON.stringify(prepared), /seen/)
})

const idOf = fc.constantFrom("a", "b", "functions.x:0", "", "call_1")
const message = fc.oneof(
  fc.string().map(user),
  fc.constant<ModelMessage>({ role: "user", content: [picture] }),
  fc.record({ text: fc.string(), ids: fc.uniqueArray(idOf, { maxLength: 3 }) }).map(({ text, ids }) =>
    assistant(
      text,
      ids.map((id) => call(id)),
    ),
  ),
  fc.uniqueArray(idOf, { maxLength: 3 }).map((ids) => results(...ids)),
)

test("any conversation comes out in a form that is not refused", () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.constantFrom("any" as const, "nine" as const),
      (messages, callIds) => {
        const prepared = prepare(messages, { callIds })
        assert.equal(prepared[0]?.role, "user")
        assert.notEqual(prepared.at(-1)?.role, "assistant")
        const seen = new Set<string>()
        prepared.forEach((each, index) => {
          const next = prepared[index + 1]
          if (each.role === "user") assert.notEqual(next?.role, "user")
          if (each.role !== "assistant") return
          const calls = each.parts.flatMap((part) => (part.type === "call" ? [part.id] : []))
          for (const id of calls) {
            assert.match(id, callIds === "nine" ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,40}$/)
            assert.equal(seen.has(id), false)
            seen.add(id)
          }
          const answered = next?.role === "tool" ? next.results.map(({ callId }) => callId) : []
          assert.deepEqual(answered, calls)
          for (const part of each.parts) if (part.type === "text") assert.notEqual(part.text.trim(), "")
        })
      },
    ),
  )
})

test("a conversation that goes on comes out as one that is seen for the first time", () => {
  const conditions = fc.record({
    callIds: fc.constantFrom("any" as const, "nine" as const),
    vision: fc.boolean(),
    plain: fc.boolean(),
  })
  const branch = fc.record({ from: fc.nat(8), messages: fc.array(message, { maxLength: 6 }), conditions })
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.array(branch, { maxLength: 5 }), (begun, branches) => {
      for (const { from, messages, conditions } of branches) {
        const all = [...begun.slice(0, from), ...messages]
        assert.deepEqual(prepare(all, conditions), prepare(structuredClone(all), conditions))
      }
    }),
  )
})

test("what was said before a reply is made ready once", () => {
  const begun = [user("look"), assistant("", [call("a")]), results("a"), assistant("seen"), user("and now?")]
  const first = prepare(begun)
  const next = prepare([...begun, assistant("", [call("b")]), results("b")])
  for (const [index, each] of first.slice(0, 3).entries()) assert.equal(next[index], each)
})

test("pictures of a turn are not kept for the next", () => {
  const seen: ModelMessage = {
    role: "tool",
    results: [{ callId: "a", toolName: "look", content: [picture], isError: false }],
  }
  const begun = [user("look"), assistant("", [call("a")]), seen, assistant("", [call("b")]), results("b")]
  const [question, , shown] = prepare(begun)
  const [again, , shownAgain] = prepare([...begun, assistant("seen")])
  assert.equal(again, question)
  assert.notEqual(shownAgain, shown)
})
