// Parts of an answer that are sent while it is written: where they are cut, and that nothing is said twice or lost.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { silentLog, testStore } from "../../../test/support/store.ts"
import { type TurnInput, type TurnView, turnJob } from "../../agent/turn-input.ts"
import { createBackground, systemIds } from "../../kernel/index.ts"
import { createSessions } from "../../sessions/index.ts"
import { sessionSchema } from "../../sessions/config.ts"
import { recordingSender, routeTo } from "../delivery.fixture.ts"
import { createDelivery } from "../delivery.ts"
import { openFence } from "../fence.ts"
import { nextCut, partText } from "./cut.ts"
import { sentLength } from "./record.ts"
import { streamReply } from "./stream.ts"

/** All parts of a text that arrives whole, as they would be sent. */
function cutUp(text: string, minChars: number, maxChars: number): string[] {
  const parts: string[] = []
  for (let rest = text, open: ReturnType<typeof openFence>; rest !== "";) {
    const cut = nextCut(rest, open, { minChars, maxChars }, "complete") ?? rest.length
    const part = rest.slice(0, cut)
    parts.push(partText(part, open))
    open = openFence(part, open)
    rest = rest.slice(cut)
  }
  return parts
}

describe("a part of an answer", () => {
  const cut = (text: string, occasion: "growing" | "idle" | "complete" = "growing") => {
    const at = nextCut(text, undefined, { minChars: 10, maxChars: 30 }, occasion)
    return at === undefined ? undefined : text.slice(0, at)
  }

  test("ends with a paragraph, else a line, a sentence, a word, else where it must", () => {
    assert.equal(cut("short\n\n"), undefined)
    assert.equal(cut("a paragraph.\n\nand more"), "a paragraph.\n\n")
    assert.equal(cut("not yet a paragraph"), undefined)
    assert.equal(cut("one paragraph here\nwith. two lines of it"), "one paragraph here\n")
    assert.equal(cut("one sentence. another one that goes on"), "one sentence. ")
    assert.equal(cut("words without any end at all here"), "words without any end at all ")
    assert.equal(cut(`${"x".repeat(29)}😀${"x".repeat(9)}`), "x".repeat(29))
    assert.equal(cut("人人人人人人人人人人人。人人人人人人人人人人人人人人人人人人人人人"), "人人人人人人人人人人人。")
  })

  test("goes out when nothing comes, where something ends", () => {
    assert.equal(cut("Well. Let me", "idle"), "Well. ")
    assert.equal(cut("Let me", "idle"), undefined)
    assert.equal(cut("Done.\n", "idle"), "Done.\n")
    assert.equal(cut("Let me", "complete"), "Let me")
  })

  test("is never cut in code that fits into a part, and code that does not is ended and begun anew", () => {
    const code = "```js\nfirst()\n\nlast()\n```"
    assert.equal(cut(`before it\n${code}\n\nafter`), "before it\n")
    assert.deepEqual(cutUp(`${code}\n\nafter it\n\nall`, 5, 28), [`${code}\n\n`, "after it\n\nall"])
    const long = Array.from({ length: 6 }, (_, index) => `  line ${index};`).join("\n")
    const parts = cutUp(`Look:\n\n~~~js\n${long}\n~~~\nEnd`, 10, 40)
    assert.equal(parts[0], "Look:\n\n")
    for (const part of parts.slice(1)) assert.equal(openFence(part), undefined, part)
    assert.deepEqual(parts.join("\n").match(/^ {2}line \d;$/gm), long.split("\n"))
    assert.ok(parts.slice(1, -1).every((part) => part.startsWith("~~~js\n")))
  })

  test("never tears a table, a tag that has begun, nor runs past a line that names a file", () => {
    const table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert.equal(cut(`Here it is now.\n\n${table}`), "Here it is now.\n\n")
    assert.equal(cut("Yes, surely [[reply_to:", "complete"), "Yes, surely ")
    assert.equal(cut("Yes, surely\nMEDIA:/a.png\nmore", "complete"), "Yes, surely\n")
    assert.equal(cut("```\nMEDIA:/a.png\n```", "complete"), "```\nMEDIA:/a.png\n```")
  })

  test("loses no character, whatever the text", () => {
    const pieces = [
      "word ",
      "\n",
      "\n\n",
      "```\n",
      "~~~js\n",
      "😀",
      "sentence. ",
      "| a |\n",
      "long".repeat(9),
      "- item\n",
    ]
    for (let seed = 1; seed <= 300; seed += 1) {
      let state = seed
      const next = () => (state = (state * 48_271) % 2_147_483_647)
      const text = Array.from({ length: 40 }, () => pieces[next() % pieces.length]).join("")
      let rest = text
      let open: ReturnType<typeof openFence>
      while (rest !== "") {
        const at = nextCut(rest, open, { minChars: 1 + (next() % 30), maxChars: 30 + (next() % 60) }, "complete")
        assert.ok(at !== undefined && at > 0, JSON.stringify(rest))
        assert.ok(rest.slice(0, at).isWellFormed())
        open = openFence(rest.slice(0, at), open)
        rest = rest.slice(at)
      }
      assert.equal(open?.mark, openFence(text)?.mark)
    }
  })
})

describe("what has been sent of an answer", () => {
  const sent = [
    { step: 0, from: 0, text: "Let me look.\n\n" },
    { step: 1, from: 0, text: "One. Two. " },
    { step: 1, from: 10, text: "Three. " },
  ]

  test("is known by step, and as long as it is said again", () => {
    assert.equal(sentLength(sent, 1, "One. Two. Three. Four."), 17)
    assert.equal(sentLength(sent, 1, "One. Tw"), 7)
    assert.equal(sentLength(sent, 2, "One. Two."), 0)
  })

  test("ends with the last sentence that is the same, when something else is said", () => {
    assert.equal(sentLength(sent, 1, "One. Two. Thirty. Four."), 10)
    assert.equal(sentLength(sent, 1, "Nothing alike"), 0)
    const again = [...sent, { step: 1, from: 10, text: "Thirty. " }]
    assert.equal(sentLength(again, 1, "One. Two. Thirty. Four."), 18)
  })
})

describe("an answer that is sent in parts", () => {
  async function begin(context: TestContext, options: { prefix?: string; folder?: string } = {}) {
    const store = await testStore(context, options.folder === undefined ? {} : { folder: options.folder })
    const background = createBackground(silentLog)
    const sender = recordingSender()
    sender.earlyReplies = () => ({ minChars: 10, maxChars: 40, idleMs: 30 })
    sender.isAnswer = () => true
    const senders = () => new Map([[sender.channel, sender]])
    const route = routeTo("5", { messageId: "77" })
    const input: TurnInput = {
      agentId: "main",
      sessionKey: "agent:main:main",
      purpose: "chat",
      origin: "owner",
      trusted: true,
      text: "hello",
      route,
    }
    const runId = "the-run"
    await store.write(async (write) => write.addJob(turnJob(runId, input)))
    const delivery = createDelivery({
      sessions: createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) }),
      senders,
      ackMaxChars: () => 300,
      responsePrefix: () => options.prefix ?? "",
      log: silentLog,
    })
    const jobId = (store.handle.prepare("select id from job").get() as { id: number }).id
    return {
      store,
      sender,
      watch(reasoning: TurnView["reasoning"] = "off") {
        const parts = { store, senders, responsePrefix: () => options.prefix ?? "", background, log: silentLog }
        const observer = streamReply(parts, input, runId, { reasoning })
        assert.ok(observer)
        return {
          step: (number: number, before?: string, isTainted = false) =>
            observer.onStep?.(before === undefined ? { number, isTainted } : { number, before, isTainted }),
          say: async (text: string, kind: "text" | "reasoning" = "text") => {
            for (const word of text.match(/\S*\s*/g) ?? []) observer.onDelta?.({ kind, text: word })
            await background.idle()
          },
          end: () => observer.end(),
        }
      },
      finish: (text: string, modelSteps = 1, { media = [] as string[], isTainted = false } = {}) => {
        const end = { input, jobId, text, media: new Set(media), isError: false, modelSteps, isTainted }
        return store.write(async (write) => delivery.deliverTurn(write, end))
      },
      idle: () => background.idle(),
      replies: () => sender.planned.map(({ reply }) => reply.text),
      rows: () => store.handle.prepare("select payload from outbox order by id").all(),
    }
  }

  test("goes out while it is written, and its end says only what is left over", async (context) => {
    const turn = await begin(context, { prefix: "[Ada]" })
    const live = turn.watch()
    live.step(0)
    await live.say("First paragraph.\n\nSecond para")
    assert.deepEqual(turn.replies(), ["[Ada] First paragraph."])
    live.end()
    await turn.finish("First paragraph.\n\nSecond paragraph.")
    assert.deepEqual(turn.replies(), ["[Ada] First paragraph.", "Second paragraph."])
  })

  test("shows no preview of addresses in any part from the step on in which words of others were read", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("See https://a.example.\n\nThen a tool")
    live.step(1, "See https://a.example.\n\nThen a tool", true)
    await live.say("See https://b.example.\n\nAnd https://c.")
    live.end()
    await turn.finish("See https://b.example.\n\nAnd https://c.example.", 2, { isTainted: true })
    assert.deepEqual(
      turn.sender.planned.map(({ reply }) => [reply.text, reply.noPreview]),
      [
        ["See https://a.example.", undefined],
        ["Then a tool", undefined],
        ["See https://b.example.", true],
        ["And https://c.example.", true],
      ],
    )
  })

  test("that was sent whole has no end of its own", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("All there is.\n\n")
    live.end()
    assert.match(await turn.finish("All there is."), /^queued for/)
    assert.deepEqual(turn.replies(), ["All there is."])
  })

  test("keeps what is said between tools, and is not taken for an answer by a tool", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("Let me look")
    live.step(1, "Let me look")
    await live.say("It is five.\n\nAnd")
    live.end()
    await turn.finish("It is five.\n\nAnd six.", 2)
    assert.deepEqual(turn.replies(), ["Let me look", "It is five.", "And six."])
  })

  test("says nothing twice behind a part of which nothing can be seen", async (context) => {
    const turn = await begin(context)
    const { plan } = turn.sender
    turn.sender.plan = (route, reply) => (reply.text.startsWith("---") ? [] : plan(route, reply))
    const live = turn.watch()
    live.step(0)
    await live.say("First paragraph.\n\n")
    await live.say("---------\n\n")
    await live.say("Second paragraph.\n\n")
    live.end()
    await turn.finish("First paragraph.\n\n---------\n\nSecond paragraph.\n\nEnd.")
    assert.deepEqual(turn.replies(), ["First paragraph.", "Second paragraph.", "End."])
  })

  test("goes on after a crash without saying anything twice", async (context) => {
    const turn = await begin(context)
    const first = turn.watch()
    first.step(0)
    await first.say("First paragraph.\n\nSecond")
    // The process dies here; another writes the same anew, then something else.
    const second = turn.watch()
    second.step(0)
    await second.say("First paragraph.\n\nSecond paragraph.\n\nThi")
    assert.deepEqual(turn.replies(), ["First paragraph.", "Second paragraph."])
    const third = turn.watch()
    third.step(0)
    await third.say("First paragraph.\n\nSecond thoughts.\n\n")
    third.end()
    await turn.finish("First paragraph.\n\nSecond thoughts.\n\nEnd.")
    assert.deepEqual(turn.replies(), ["First paragraph.", "Second paragraph.", "Second thoughts.", "End."])
  })

  test("goes on after a crash between two steps with what the step before had still to say", async (context) => {
    const turn = await begin(context)
    const first = turn.watch()
    first.step(0)
    await first.say("First paragraph.\n\nThen a tool")
    const second = turn.watch()
    second.step(1, "First paragraph.\n\nThen a tool")
    await second.say("Done.")
    second.end()
    await turn.finish("Done.", 2)
    assert.deepEqual(turn.replies(), ["First paragraph.", "Then a tool", "Done."])
  })

  test("goes on after a crash between two later steps as well", async (context) => {
    const turn = await begin(context)
    const first = turn.watch()
    first.step(0)
    await first.say("First paragraph.\n\nThen a tool")
    first.step(1, "First paragraph.\n\nThen a tool")
    await first.say("Second paragraph.\n\nThen another")
    const second = turn.watch()
    second.step(2, "Second paragraph.\n\nThen another")
    await second.say("Done.")
    second.end()
    await turn.finish("Done.", 3)
    assert.deepEqual(turn.replies(), ["First paragraph.", "Then a tool", "Second paragraph.", "Then another", "Done."])
  })

  test("sends what there is when nothing comes for a while", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("Well. Let")
    while (turn.replies().length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(turn.replies(), ["Well."])
    live.end()
    await turn.finish("Well. Let me see.")
    assert.deepEqual(turn.replies(), ["Well.", "Let me see."])
  })

  test("refers to a message once where only the first part is to, whatever later parts name", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("No reference.\n\n[[reply_to:42]] With one.\n\n[[reply_to:43]] And another.\n\nEnd")
    live.step(1, "No reference.\n\n[[reply_to:42]] With one.\n\n[[reply_to:43]] And another.\n\nEnd")
    await live.say("Then this.\n\nAnd that")
    live.end()
    await turn.finish("Then this.\n\nAnd [[reply_to_current]] that", 2)
    assert.deepEqual(
      turn.sender.planned.map(({ reply }) => [reply.text, reply.replyTo, reply.isReferred]),
      [
        ["No reference.", undefined, undefined],
        ["With one.", "42", undefined],
        ["And another.", "43", true],
        ["End", "43", true],
        ["Then this.", undefined, undefined],
        ["And that", "77", true],
      ],
    )
  })

  test("heeds tags where they stand, and sends files at the end", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("[[reply_to_current]] First one.\n\n[[audio_as_voice]]\nMEDIA:/a.ogg\nrest")
    live.end()
    await turn.finish("[[reply_to_current]] First one.\n\n[[audio_as_voice]]\nMEDIA:/a.ogg\nrest", 1, {
      media: ["/a.ogg"],
    })
    assert.deepEqual(
      turn.sender.planned.map(({ reply }) => reply),
      [
        { text: "First one.", media: [], replyTo: "77" },
        {
          text: "rest",
          media: [{ path: "/a.ogg", mediaType: "audio/ogg" }],
          asVoice: true,
          replyTo: "77",
          isReferred: true,
        },
      ],
    )
  })

  test("shows the thinking once, in front of its first part", async (context) => {
    const turn = await begin(context)
    const live = turn.watch("on")
    live.step(0)
    await live.say("hm", "reasoning")
    await live.say("First paragraph.\n\nSecond paragraph.\n\n")
    live.end()
    await turn.finish("First paragraph.\n\nSecond paragraph.")
    assert.deepEqual(
      turn.sender.planned.map(({ reply }) => reply.reasoning),
      ["hm", undefined],
    )
  })

  test("that was begun before a tool has spoken is said to its end; what follows is not", async (context) => {
    const turn = await begin(context)
    const live = turn.watch()
    live.step(0)
    await live.say("First paragraph.\n\nThe picture comes")
    const { id: jobId } = turn.store.handle.prepare("select id from job").get() as { id: number }
    await turn.store.write(async (write) => {
      const [row] = turn.sender.plan(routeTo("5"), { text: "by tool", media: [] })
      assert.ok(row)
      write.addOutbox({ ...row, jobId })
    })
    live.step(1, "First paragraph.\n\nThe picture comes")
    await turn.idle()
    await live.say("Done, as you wished.\n\nReally")
    live.end()
    assert.match(await turn.finish("Done, as you wished.\n\nReally", 2), /^delivered by tool/)
    assert.deepEqual(turn.replies(), ["First paragraph.", "by tool", "The picture comes"])
  })

  test("is not sent beside what a tool has said", async (context) => {
    const turn = await begin(context)
    const { id: jobId } = turn.store.handle.prepare("select id from job").get() as { id: number }
    await turn.store.write(async (write) => {
      const [row] = turn.sender.plan(routeTo("5"), { text: "by tool", media: [] })
      assert.ok(row)
      write.addOutbox({ ...row, jobId })
    })
    const live = turn.watch()
    live.step(1)
    await live.say("First paragraph.\n\nSecond")
    live.end()
    assert.match(await turn.finish("First paragraph.\n\nSecond", 2), /^delivered by tool/)
    assert.equal(turn.rows().length, 1)
  })
})
