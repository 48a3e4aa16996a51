import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Json, JsonObject } from "../../kernel/index.ts"
import { chunk, data, done, gather, readPieces } from "./chat-completions.fixture.ts"
import { createReplyReader } from "./reply.ts"

async function read(...pieces: string[]) {
  return gather(await readPieces(pieces, ["look", "list", "get_weather"]))
}

/** Calls of a stream whose deltas carry these lists of pieces. */
async function callsOf(...lists: Json[][]): Promise<JsonObject[]> {
  const body = lists.map((list) => chunk({ tool_calls: list })).join("")
  return (await read(body + chunk({}, "tool_calls") + done)).calls
}

function piece(fields: { index?: number; id?: string; name?: string; arguments?: Json }): JsonObject {
  const { index, id, name, arguments: input } = fields
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    type: "function",
    function: { ...(name === undefined ? {} : { name }), ...(input === undefined ? {} : { arguments: input }) },
  }
}

describe("text and reasoning", () => {
  for (const field of ["reasoning_content", "reasoning", "reasoning_text"]) {
    test(`come apart under ${field}, and the name is kept`, async () => {
      const body = chunk({ [field]: "Let me " }) + chunk({ [field]: "see" }) + chunk({ content: "Four" }, "stop")
      assert.deepEqual((await readPieces([body])).slice(0, -1), [
        { type: "reasoning", block: "reasoning-1", text: "Let me ", meta: { field } },
        { type: "reasoning", block: "reasoning-1", text: "see" },
        { type: "text", block: "text-2", text: "Four" },
      ])
    })
  }

  test("begin a new block where one follows the other, and each block of reasoning keeps its name", async () => {
    const body = chunk({ reasoning: "a" }) + chunk({ content: "b" }) + chunk({ reasoning: "c" }) + chunk({}, "stop")
    const events = (await readPieces([body])).slice(0, -1)
    assert.deepEqual(events, [
      { type: "reasoning", block: "reasoning-1", text: "a", meta: { field: "reasoning" } },
      { type: "text", block: "text-2", text: "b" },
      { type: "reasoning", block: "reasoning-3", text: "c", meta: { field: "reasoning" } },
    ])
  })

  test("are parts of the content with Mistral", async () => {
    const thinking = (text: string, more: JsonObject = {}) => ({
      type: "thinking",
      thinking: [{ type: "text", text }],
      ...more,
    })
    const body =
      chunk({ role: "assistant", content: [thinking("Two and ")] }) +
      chunk({ content: [thinking("two"), { type: "text", text: "Four" }] }) +
      chunk({ content: [thinking("", { signature: "s" }), { type: "reference", reference_ids: [1] }, "!"] }) +
      chunk({ content: "" }, "stop")
    const events = await readPieces([body])
    assert.deepEqual([gather(events).reasoning, gather(events).text], ["Two and two", "Four!"])
    const metas = events.flatMap((event) => (event.type === "reasoning" && event.meta ? [event.meta] : []))
    assert.deepEqual(metas, [{ field: "content" }, { field: "content", signature: "s" }])
  })

  test("of a whole completion come in the same way", async () => {
    const message = { content: [{ type: "text", text: "Four" }], reasoning_content: "Two and two" }
    const { text, reasoning } = await read(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }))
    assert.deepEqual([text, reasoning], ["Four", "Two and two"])
  })

  test("that come under two names are said once", async () => {
    const detail = (text: string) => ({ type: "reasoning.text", text, index: 0, format: "f" })
    const both = (text: string) =>
      chunk({ reasoning: text, reasoning_content: text, reasoning_details: [detail(text)] })
    assert.equal((await read(both("Let ") + both("me see") + chunk({ content: "x" }, "stop"))).reasoning, "Let me see")
    const apart = chunk({ reasoning_details: [detail("Let me ")] }) + chunk({ reasoning: "Let me " })
    assert.equal((await read(apart + chunk({ content: "x" }, "stop"))).reasoning, "Let me ")
  })

  test("keep OpenRouter's details for the way back: texts joined, signatures and encrypted entries untouched", async () => {
    const details = (...list: JsonObject[]) => chunk({ reasoning_details: list })
    const text = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 }
    const body =
      details({ ...text, text: "Let " }, { ...text, text: "me " }) +
      details({ ...text, text: "see", signature: null }) +
      details({ ...text, signature: "sig" }) +
      details({ type: "reasoning.encrypted", data: "AAA", id: "call_1", index: 1 }) +
      details({ type: "reasoning.encrypted", data: "BBB", id: "call_2", index: 1 }) +
      details(
        { type: "reasoning.summary", summary: "Sum", index: 2 },
        { type: "reasoning.summary", summary: "med", index: 2 },
      ) +
      chunk({ content: "Four" }, "stop")
    const events = await readPieces([body])
    assert.equal(gather(events).reasoning, "Let me seeSummed")
    assert.deepEqual(events.at(-2), {
      type: "reasoning",
      block: "reasoning-details",
      text: "",
      meta: {
        field: "reasoning_details",
        reasoning_details: [
          { ...text, text: "Let me see", signature: "sig" },
          { type: "reasoning.encrypted", data: "AAA", id: "call_1", index: 1 },
          { type: "reasoning.encrypted", data: "BBB", id: "call_2", index: 1 },
          { type: "reasoning.summary", summary: "Summed", index: 2 },
        ],
      },
    })
  })

  test("signed by Gemini carry the signature", async () => {
    const extra = { google: { thought_signature: "abc" } }
    const events = await readPieces([chunk({ content: "Hi" }) + chunk({ content: "", extra_content: extra }, "stop")])
    assert.deepEqual(events[1], { type: "text", block: "text-1", text: "", meta: { extra_content: extra } })
  })

  test("that refuse are text, and the reply is refused", async () => {
    const { text, reason } = await read(chunk({ refusal: "I can" }) + chunk({ refusal: "not" }) + chunk({}, "stop"))
    assert.deepEqual([text, reason], ["I cannot", "refused"])
  })
})

describe("tool calls", () => {
  const look = (word: string, id: string) => ({ id, name: "look", input: { word } })

  test("come in pieces that are numbered", async () => {
    const calls = await callsOf(
      [piece({ index: 0, id: "a", name: "look", arguments: "" })],
      [piece({ index: 0, arguments: '{"wor' })],
      [piece({ index: 1, id: "b", name: "list", arguments: '{"x"' })],
      [piece({ index: 0, arguments: 'd":"cat"}' }), piece({ index: 1, arguments: ":1}" })],
    )
    assert.deepEqual(calls, [look("cat", "a"), { id: "b", name: "list", input: { x: 1 } }])
  })

  test("are whole in one piece each: without numbers, always number 0, or in one list", async () => {
    const cat = '{"word":"cat"}'
    const dog = '{"word":"dog"}'
    const expected = [look("cat", "a"), look("dog", "b")]
    const bare = (id: string, input: string) => piece({ id, name: "look", arguments: input })
    assert.deepEqual(await callsOf([bare("a", cat)], [bare("b", dog)]), expected)
    assert.deepEqual(await callsOf([bare("a", cat), bare("b", dog)]), expected)
    const zero = (id: string, input: string) => piece({ index: 0, id, name: "look", arguments: input })
    assert.deepEqual(await callsOf([zero("a", cat)], [zero("b", dog)]), expected)
    assert.deepEqual(await callsOf([zero("a", cat), zero("b", dog)]), expected)
  })

  test("that are always number 0 come in pieces too", async () => {
    const calls = await callsOf(
      [piece({ index: 0, id: "a", name: "look", arguments: "" })],
      [piece({ index: 0, arguments: '{"word":"cat"}' })],
      [piece({ index: 0, id: "b", name: "look", arguments: "" })],
      [piece({ index: 0, arguments: '{"word":' }), piece({ index: 0, arguments: '"dog"}' })],
    )
    assert.deepEqual(calls, [look("cat", "a"), look("dog", "b")])
  })

  test("without ids get ids of their own, made of the reply's id and their place", async () => {
    const cat = piece({ index: 0, name: "look", arguments: '{"word":"cat"}' })
    const calls = await callsOf([cat], [cat, piece({ name: "list", id: "" })])
    assert.deepEqual(
      calls.map(({ id, name }) => [id, name]),
      [
        ["call_chatcmpl1_1", "look"],
        ["call_chatcmpl1_2", "look"],
        ["call_chatcmpl1_3", "list"],
      ],
    )
  })

  test("take ids from a generator where one is given", () => {
    let next = 0
    const newCallId = () => `own-${(next += 1)}`
    const reader = createReplyReader({ toolNames: new Set(), newCallId })
    reader.push({
      choices: [{ delta: { tool_calls: [piece({ name: "a" }), piece({ name: "b" })] }, finish_reason: "stop" }],
    })
    const ids = reader.end(false).flatMap((event) => (event.type === "call" ? [event.id] : []))
    assert.deepEqual(ids, ["own-1", "own-2"])
  })

  test("that share one id are told apart and get ids of their own", async () => {
    const one = (input: string) => piece({ id: "same", name: "look", arguments: input })
    const calls = await callsOf([one('{"word":"cat"}'), one('{"word":"dog"}')], [one('{"word":"cow"}')])
    assert.deepEqual(
      calls.map(({ input }) => input),
      [{ word: "cat" }, { word: "dog" }, { word: "cow" }],
    )
    assert.equal(calls[0]?.["id"], "same")
    assert.equal(new Set(calls.map(({ id }) => id)).size, 3)
    const numbered = (index: number, word: string) =>
      piece({ index, id: "same", name: "look", arguments: `{"word":"${word}"}` })
    assert.equal((await callsOf([numbered(0, "cat")], [numbered(1, "dog")])).length, 2)
  })

  test("whose id comes again with every piece, empty, late, or new each time, are one", async () => {
    const rest = ['{"word"', ':"cat"}']
    const again = rest.map((text) => [piece({ index: 0, id: "a", name: "look", arguments: text })])
    assert.deepEqual(await callsOf(...again), [look("cat", "a")])
    const withoutNumber = rest.map((text) => [piece({ id: "a", name: "look", arguments: text })])
    assert.deepEqual(await callsOf(...withoutNumber), [look("cat", "a")])
    const first = [piece({ index: 0, id: "a", name: "look", arguments: "" })]
    const empty = rest.map((text) => [piece({ index: 0, id: "", name: "", arguments: text })])
    assert.deepEqual(await callsOf(first, ...empty, [piece({ index: 0, id: "", arguments: "" })]), [look("cat", "a")])
    const fresh = rest.map((text, at) => [piece({ index: 0, id: `new-${at}`, arguments: text })])
    assert.deepEqual(await callsOf(first, ...fresh), [look("cat", "a")])
    const late = [piece({ index: 0, name: "look", arguments: '{"word":' })]
    assert.deepEqual(await callsOf(late, [piece({ index: 0, id: "a", arguments: '"cat"}' })]), [look("cat", "a")])
  })

  test("have a name that comes in pieces, again, longer each time, or last", async () => {
    const named = (...names: string[]) =>
      callsOf(
        ...names.map((name) => [piece({ index: 0, id: "a", name })]),
        [piece({ index: 0, arguments: "{}" })],
        [piece({ index: 0, name: "get_weather" })],
      )
    for (const names of [
      ["get_weather"],
      ["get_", "weather"],
      ["get_", "get_weather"],
      ["get_weather", "get_weather"],
    ]) {
      assert.deepEqual(await named(...names), [{ id: "a", name: "get_weather", input: {} }], names.join())
    }
    const last = await callsOf([piece({ index: 0, id: "a", arguments: "{}" })], [piece({ index: 0, name: "look" })])
    assert.deepEqual(last, [{ id: "a", name: "look", input: {} }])
  })

  test("without ids, numbers and input are told apart by the names of the tools", async () => {
    const calls = await callsOf([piece({ name: "look" })], [piece({ name: "list" })])
    assert.deepEqual(
      calls.map(({ name }) => name),
      ["look", "list"],
    )
  })

  test("may begin with an empty input and bring the real one later", async () => {
    for (const empty of ["{}", "", "{ }", {}]) {
      const calls = await callsOf(
        [piece({ index: 0, id: "a", name: "look", arguments: empty })],
        [piece({ index: 0, arguments: '{"word":"cat"}' })],
      )
      assert.deepEqual(calls, [look("cat", "a")], JSON.stringify(empty))
    }
  })

  test("may be repeated whole under their id", async () => {
    const whole = piece({ index: 0, id: "a", name: "look", arguments: '{"word":"cat"}' })
    assert.deepEqual(await callsOf([whole], [whole]), [look("cat", "a")])
    const object = piece({ index: 0, id: "a", name: "look", arguments: { word: "cat" } })
    assert.deepEqual(await callsOf([object], [object]), [look("cat", "a")])
  })

  test("have their input as an object, empty, missing, null, or as JSON in a string", async () => {
    const inputs: [Json | undefined, Json][] = [
      [{ word: "cat" }, { word: "cat" }],
      ["", {}],
      [undefined, {}],
      [null, {}],
      ["null", {}],
      ["  ", {}],
      ['"{\\"word\\":\\"cat\\"}"', { word: "cat" }],
      ["[1]", [1]],
      ['{"word": cat}', '{"word": cat}'],
      ['{"word":"c', '{"word":"c'],
    ]
    for (const [given, expected] of inputs) {
      const [call] = await callsOf([
        piece({ id: "a", name: "look", ...(given === undefined ? {} : { arguments: given }) }),
      ])
      assert.deepEqual(call?.["input"], expected, JSON.stringify(given))
    }
  })

  test("are none where a piece says nothing at all", async () => {
    const { calls, reason } = await read(chunk({ content: "Hi", tool_calls: [{ index: 0 }] }) + chunk({}, "stop"))
    assert.deepEqual([calls, reason], [[], "stop"])
  })

  test("come in the old form as well", async () => {
    const body =
      chunk({ function_call: { name: "look", arguments: '{"word":' } }) +
      chunk({ function_call: { arguments: '"cat"}' } }) +
      chunk({}, "function_call")
    const { calls, reason } = await read(body)
    assert.deepEqual([calls, reason], [[look("cat", "call_chatcmpl1_1")], "tool-calls"])
  })

  test("of a whole completion, and of several choices of it, are all read", async () => {
    const message = (word: string) => ({
      content: null,
      tool_calls: [piece({ id: word, name: "look", arguments: `{"word":"${word}"}` })],
    })
    const choices = ["cat", "dog"].map((word) => ({ message: message(word), finish_reason: "tool_calls" }))
    assert.deepEqual((await read(JSON.stringify({ choices }))).calls, [look("cat", "cat"), look("dog", "dog")])
  })

  test("keep what Gemini wants back with them", async () => {
    const extra = { google: { thought_signature: "abc" } }
    const [call] = await callsOf([{ ...piece({ index: 0, id: "a", name: "look" }), extra_content: extra }])
    assert.deepEqual(call, { id: "a", name: "look", input: {}, meta: { extra_content: extra } })
  })

  test("make a reply that ends with `stop`, nothing or an unknown word one of calls", async () => {
    const call = chunk({ tool_calls: [piece({ id: "a", name: "look" })] })
    for (const end of [chunk({}, "stop"), chunk({}, "whatever"), done]) {
      assert.equal((await read(call + end)).reason, "tool-calls")
    }
    assert.equal((await read(call + chunk({}, "length"))).reason, "length")
  })

  test("tell the size of their input as it comes", async () => {
    const body = chunk({ tool_calls: [piece({ index: 0, id: "a", name: "look", arguments: '{"word":' })] })
    const rest = chunk({ tool_calls: [piece({ index: 0, arguments: '"cat"}' })] }, "tool_calls")
    const events = await readPieces([body + rest])
    const inputs = events.flatMap((event) => (event.type === "call-input" ? [event.text] : []))
    assert.deepEqual(inputs, ['{"word":', '"cat"}'])
  })

  test("cost time in proportion to their size in ten thousand pieces", async () => {
    const text = "abcdefghij".repeat(3)
    const pieces = Array.from({ length: 10_000 }, () => chunk({ tool_calls: [piece({ index: 0, arguments: text })] }))
    const calls = await read(
      chunk({ tool_calls: [piece({ index: 0, id: "a", name: "look", arguments: '{"word":"' })] }),
      ...pieces,
      chunk({ tool_calls: [piece({ index: 0, arguments: '"}' })] }, "tool_calls"),
    )
    assert.deepEqual(calls.calls, [look(text.repeat(10_000), "a")])
  })
})

describe("ends", () => {
  const ends: Record<string, string> = {
    stop: "stop",
    eos: "stop",
    tool_calls: "stop",
    length: "length",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    content_filter: "refused",
    refusal: "refused",
    pause_turn: "paused",
    SAFETY: "refused",
    something_new: "other",
    constructor: "other",
  }
  for (const [raw, reason] of Object.entries(ends)) {
    test(`${raw} is ${reason}, and the word itself is kept`, async () => {
      const reply = await read(chunk({ content: "Hi" }) + chunk({}, raw))
      assert.deepEqual([reply.reason, reply.rawReason], [reason, raw])
    })
  }
})

describe("usage", () => {
  const hi = chunk({ content: "Hi" }) + chunk({}, "stop")
  async function usageOf(usage: JsonObject): Promise<JsonObject> {
    return (await read(hi + data({ choices: [], usage }) + done)).usage
  }
  const basic = { prompt_tokens: 100, completion_tokens: 20 }

  test("stands in a chunk of its own, in the last one, in each one, in a choice, or nowhere", async () => {
    const expected = { inputTokens: 100, outputTokens: 20 }
    assert.deepEqual(await usageOf(basic), expected)
    assert.deepEqual((await read(chunk({ content: "Hi" }, "stop", { usage: basic }))).usage, expected)
    const growing = [5, 10, 20].map((tokens) =>
      chunk({ content: "Hi" }, null, { usage: { prompt_tokens: 100, completion_tokens: tokens } }),
    )
    assert.deepEqual((await read(...growing, chunk({}, "stop"))).usage, expected)
    assert.deepEqual(
      (await read(data({ choices: [{ delta: {}, finish_reason: "stop", usage: basic }] }))).usage,
      expected,
    )
    assert.deepEqual((await read(chunk({ content: "Hi" }, "stop", { x_groq: { usage: basic } }))).usage, expected)
    assert.deepEqual((await read(hi)).usage, {})
    assert.deepEqual((await read(chunk({ content: "Hi" }, "stop", { usage: null }))).usage, {})
  })

  test("has cached tokens under the names that services give them", async () => {
    const read100 = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 64 }
    assert.deepEqual(await usageOf({ ...basic, prompt_tokens_details: { cached_tokens: 64 } }), read100)
    assert.deepEqual(await usageOf({ ...basic, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }), read100)
    assert.deepEqual(await usageOf({ ...basic, cached_tokens: 64 }), read100)
    assert.deepEqual(await usageOf({ ...basic, num_cached_tokens: 64 }), read100)
    const written = { cached_tokens: 64, cache_write_tokens: 30 }
    assert.deepEqual(await usageOf({ ...basic, prompt_tokens_details: written, cost: 0.01 }), {
      ...read100,
      cacheWriteTokens: 30,
    })
    assert.deepEqual(await usageOf({ ...basic, cache_read_input_tokens: 64, cache_creation_input_tokens: 30 }), {
      ...read100,
      cacheWriteTokens: 30,
    })
  })

  test("counts reasoning into the reply, where a service leaves it out as well", async () => {
    const details = { completion_tokens_details: { reasoning_tokens: 15 } }
    const within = { ...basic, total_tokens: 120, ...details }
    assert.deepEqual(await usageOf(within), { inputTokens: 100, outputTokens: 20, reasoningTokens: 15 })
    const beside = { ...basic, total_tokens: 135, ...details }
    assert.deepEqual(await usageOf(beside), { inputTokens: 100, outputTokens: 35, reasoningTokens: 15 })
    const more = { ...basic, completion_tokens: 1, ...details }
    assert.deepEqual(await usageOf(more), { inputTokens: 100, outputTokens: 16, reasoningTokens: 15 })
    assert.deepEqual(await usageOf({ ...basic, total_tokens: 135 }), { inputTokens: 100, outputTokens: 35 })
  })

  test("comes from llama.cpp's timings where nothing else is said", async () => {
    const timings = { prompt_n: 36, cache_n: 64, predicted_n: 20, predicted_ms: 1.5 }
    const body = chunk({ content: "Hi" }, "stop", { timings })
    assert.deepEqual((await read(body)).usage, { inputTokens: 100, outputTokens: 20, cacheReadTokens: 64 })
    const both = chunk({ content: "Hi" }, "stop", { timings, usage: { prompt_tokens: 101, completion_tokens: 21 } })
    assert.deepEqual((await read(both)).usage, { inputTokens: 101, outputTokens: 21, cacheReadTokens: 64 })
  })

  test("is unknown, never zero, where a server fills in zeros or nonsense", async () => {
    assert.deepEqual(await usageOf({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }), {})
    assert.deepEqual(await usageOf({ prompt_tokens: -1, completion_tokens: "20", prompt_tokens_details: "x" }), {})
    assert.deepEqual(await usageOf({ ...basic, prompt_tokens_details: { cached_tokens: 0 } }), {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 0,
    })
  })
})
