import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, describe, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import type { TurnDelivery, TurnInput } from "../agent/index.ts"
import { systemIds } from "../kernel/index.ts"
import { type Route, createSessions, mainKey } from "../sessions/index.ts"
import { sessionSchema } from "../sessions/config.ts"
import { type RecordingSender, outboxRow, recordingSender, routeTo } from "./delivery.fixture.ts"
import { createDelivery } from "./delivery.ts"
import { ownersFile } from "./owners-file.ts"

async function startDelivery(
  context: TestContext,
  senders: RecordingSender[] = [recordingSender()],
  prefix = "",
  isLetIn = () => true,
) {
  const store = await testStore(context)
  const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
  const delivery = createDelivery({
    sessions,
    senders: () => new Map(senders.map((sender) => [sender.channel, sender])),
    isLetIn,
    ackMaxChars: () => 300,
    responsePrefix: () => prefix,
    log: silentLog,
  })
  return {
    delivery,
    rows: () =>
      store.handle
        .prepare("select channel, account, chat_id, job_id, payload from outbox order by id")
        .all()
        .map((row) => `${row.channel} ${row.account} ${row.chat_id} ${row.job_id} ${row.payload}`),
    deliver: (text: string, input: Partial<TurnInput> = {}, more: Partial<TurnDelivery> = {}) =>
      store.write(async (write) => {
        const whole: TurnInput = { ...chatInput, ...input }
        return delivery.deliverTurn(write, { input: whole, jobId: 9, text, media: new Set(), isError: false, ...more })
      }),
    /** As a tool of that job does. */
    reacted: (jobId: number) =>
      store.write(async (write) => {
        write.addOutbox({ ...outboxRow("👍", routeTo("5")), kind: "react", jobId })
      }),
    remember: (route: Route) =>
      store.write(async (write) => sessions.rememberRoute(write, mainKey("main"), "main", route)),
  }
}

const chatInput: TurnInput = {
  agentId: "main",
  sessionKey: mainKey("main"),
  purpose: "chat",
  origin: "owner",
  trusted: true,
  text: "hello",
  route: routeTo("5", { messageId: "77", threadId: "3" }),
}

describe("a turn's reply", () => {
  test("goes to the route of its input and nowhere else, whatever was heard from last", async (context) => {
    const sender = recordingSender()
    const { deliver, remember, rows } = await startDelivery(context, [sender, recordingSender(undefined, "other")])
    await remember(routeTo("6", { channel: "other" }))
    assert.equal(await deliver("one\n\ntwo"), "queued for test chat 5")
    assert.deepEqual(rows(), ['test default 5 9 {"text":"one"}', 'test default 5 9 {"text":"two"}'])
    assert.deepEqual(sender.planned[0]?.route, chatInput.route)
  })

  test("that was stopped ends where it was seen to end, its code closed, and says so", async (context) => {
    const { deliver, rows } = await startDelivery(context)
    await deliver("Look:\n```js\nlet a", {}, { isStopped: true })
    assert.match(rows().join("\n"), /let a\\n```.*\n.*\*\(stopped\)\*/)
    assert.match(await deliver("  ", {}, { isStopped: true }), /^not delivered: stopped before/)
    await deliver("Well [[reply_to_curr", {}, { isStopped: true })
    assert.ok(rows().some((row) => row.includes('{"text":"Well"}')))
    assert.equal(rows().length, 4)
  })

  test("carries the thinking beside the text", async (context) => {
    const sender = recordingSender()
    const { deliver } = await startDelivery(context, [sender], "[Ada]")
    await deliver("yes", {}, { reasoning: "[[reply_to:5]] hm" })
    assert.deepEqual(sender.planned[0]?.reply, { text: "[Ada] yes", media: [], reasoning: "[[reply_to:5]] hm" })
    await deliver("no", { purpose: "heartbeat" }, { reasoning: "hm", isReasoningApart: true })
    assert.deepEqual(
      sender.planned.slice(1).map(({ reply }) => reply),
      [
        { text: "", media: [], reasoning: "hm" },
        { text: "[Ada] no", media: [] },
      ],
    )
    await deliver("HEARTBEAT_OK", { purpose: "heartbeat" }, { showsAck: true })
    assert.equal(sender.planned.at(-1)?.reply.text, "[Ada] HEARTBEAT_OK")
  })

  test("begins with the configured prefix, once", async (context) => {
    const sender = recordingSender()
    const { deliver } = await startDelivery(context, [sender], "[Ada]")
    await deliver("hello")
    await deliver("[Ada] hello")
    await deliver("HEARTBEAT_OK", { purpose: "heartbeat" })
    assert.deepEqual(
      sender.planned.map(({ reply }) => reply.text),
      ["[Ada] hello", "[Ada] hello"],
    )
  })

  test("refers to the message it answers when it says so", async (context) => {
    const sender = recordingSender()
    const { deliver } = await startDelivery(context, [sender])
    await deliver("[[reply_to_current]] hello")
    assert.deepEqual(sender.planned[0]?.reply, { text: "hello", media: [], replyTo: "77" })
  })

  test("sends the files that the turn has made, and no other", async (context) => {
    const { deliver, rows } = await startDelivery(context)
    await deliver("See:\nMEDIA:/m/a.png\nMEDIA:/etc/passwd", {}, { media: new Set(["/m/a.png"]) })
    assert.deepEqual(rows(), ['test default 5 9 {"text":"See:"}', 'test default 5 9 {"text":"/m/a.png"}'])
  })

  test("without a route is not delivered, with the reason", async (context) => {
    const { deliver, rows } = await startDelivery(context)
    assert.equal(await deliver("hi", { route: null }), "not delivered: none was asked for")
    assert.equal(
      await deliver("hi", { route: null, routeProblem: "nobody has written yet" }),
      "not delivered: nobody has written yet",
    )
    assert.deepEqual(rows(), [])
  })

  test("to a channel that is gone does not fail the turn", async (context) => {
    const { deliver, rows } = await startDelivery(context, [])
    assert.equal(await deliver("hi"), "not delivered: channel test is not configured any more")
    assert.deepEqual(rows(), [])
  })

  test("that is empty is said to be so in a chat, and left out elsewhere", async (context) => {
    const { deliver, rows } = await startDelivery(context)
    await deliver("[[audio_as_voice]] ")
    assert.match(rows()[0] ?? "", /The agent gave no answer/)
    for (const purpose of ["hook", "heartbeat"] as const) {
      assert.match(await deliver(" ", { purpose }), /^not delivered/)
    }
    assert.equal(rows().length, 1)
  })

  test("that is NO_REPLY, or begins or ends with a line of it, is silence; its files go all the same", async (context) => {
    const { deliver, rows } = await startDelivery(context)
    for (const text of ["NO_REPLY", " **NO_REPLY**.\n", "NO_REPLY\nnot for me", "Nobody asks me.\n\n`NO_REPLY`"]) {
      for (const purpose of ["chat", "hook"] as const)
        assert.equal(await deliver(text, { purpose }), "not delivered: the agent chose to say nothing", text)
    }
    assert.deepEqual(rows(), [])
    await deliver("Write NO_REPLY to be silent")
    await deliver("NO_REPLY\nMEDIA:/a.png", {}, { media: new Set(["/a.png"]) })
    assert.equal(rows().length, 2)
    assert.ok(!rows()[1]?.includes("NO_REPLY") && rows()[1]?.includes("/a.png"))
  })

  test("that is empty is silence where a tool has spoken or reacted, or a group hears everything", async (context) => {
    const { deliver, rows, reacted } = await startDelivery(context)
    assert.match(await deliver(" ", { hearsAll: true }), /^not delivered/)
    assert.deepEqual(rows(), [])
    await reacted(9)
    assert.match(await deliver(""), /^not delivered/)
    assert.equal(rows().length, 1, "the reaction alone")
    await deliver("words all the same")
    assert.equal(rows().length, 2)
  })

  test("of which nothing can be seen is said to be none", async (context) => {
    const sender = recordingSender()
    const { plan } = sender
    sender.plan = (route, reply) => (reply.text === "```\n```" ? [] : plan(route, reply))
    const { deliver, rows } = await startDelivery(context, [sender])
    await deliver("```\n```")
    await deliver("```\n```", { purpose: "hook" })
    assert.deepEqual(
      rows().map((row) => row.includes("The agent gave no answer")),
      [true],
    )
  })

  test("that only acknowledges a heartbeat is left out, unless a person asked in a chat", async (context) => {
    const { deliver, rows } = await startDelivery(context)
    for (const purpose of ["hook", "heartbeat"] as const) {
      assert.equal(
        await deliver("[[reply_to_current]] **HEARTBEAT_OK**", { purpose }),
        "not delivered: nothing needs attention",
      )
    }
    assert.deepEqual(rows(), [])
    await deliver("HEARTBEAT_OK")
    await deliver(`HEARTBEAT_OK ${"but look ".repeat(50)}`, { purpose: "hook" })
    assert.equal(rows().length, 2)
  })

  test("that tells of a failure is sent to the letter: its words may be a provider's", async (context) => {
    const sender = recordingSender()
    const { deliver } = await startDelivery(context, [sender])
    const text = "Sorry: [[reply_to:1]] HTTP 400\nMEDIA:/m/a.png"
    await deliver(text, {}, { isError: true, media: new Set(["/m/a.png"]) })
    assert.deepEqual(sender.planned[0]?.reply, { text, media: [] })
  })
})

describe("a destination", () => {
  test("`last` is the chat that was heard from last, without the message it was about", async (context) => {
    const { delivery, remember } = await startDelivery(context)
    await remember(routeTo("6", { threadId: "3", messageId: "70" }))
    assert.deepEqual(delivery.resolve("main", { channel: " LAST " }), routeTo("6", { threadId: "3" }))
  })

  test("`last` with a recipient uses the channel and account that were heard from last", async (context) => {
    const { delivery, remember } = await startDelivery(context)
    assert.deepEqual(delivery.resolve("main", { channel: "last", to: "8" }), routeTo("8"))
    await remember(routeTo("6", { account: "second" }))
    assert.deepEqual(delivery.resolve("main", { channel: "last", to: "8" }), routeTo("8", { account: "second" }))
  })

  test("is never at an account that there is not any more", async (context) => {
    const sender = { ...recordingSender(), hasAccount: (account: string) => account === "default" }
    const { delivery, remember } = await startDelivery(context, [sender])
    await remember(routeTo("6", { account: "second" }))
    assert.deepEqual(delivery.resolve("main", { channel: "last", to: "8" }), routeTo("8"))
    for (const channel of ["last", "test"]) {
      assert.throws(() => delivery.resolve("main", { channel }), { code: "no-route", message: /second, which is gone/ })
    }
  })

  test("that names no channel is never the gateway's own page, where nobody has the recipient's id", async (context) => {
    const page = { ...recordingSender(undefined, "page"), isPage: true as const }
    const { delivery, remember } = await startDelivery(context, [page, recordingSender()])
    await remember(routeTo("main", { channel: "page" }))
    assert.deepEqual(delivery.resolve("main", { channel: "last", to: "8" }), routeTo("8"))
    assert.deepEqual(delivery.resolve("main", { channel: "last" }), routeTo("main", { channel: "page" }))
  })

  test("is refused when nobody has written and none is named", async (context) => {
    const { delivery } = await startDelivery(context)
    for (const channel of ["last", "test"]) {
      assert.throws(() => delivery.resolve("main", { channel }), { code: "no-route" })
    }
  })

  test("is not who wrote last once they are shut out", async (context) => {
    let isLetIn = true
    const { delivery, remember } = await startDelivery(context, [recordingSender()], "", () => isLetIn)
    await remember(routeTo("6"))
    assert.equal(delivery.resolve("main", { channel: "last" }).chatId, "6")
    isLetIn = false
    for (const channel of ["last", "test"]) {
      assert.throws(() => delivery.resolve("main", { channel }), { code: "no-route", message: /not let in any more/ })
    }
    assert.equal(delivery.resolve("main", { channel: "last", to: "8" }).chatId, "8")
  })

  test("on one channel is never taken from another", async (context) => {
    const { delivery, remember } = await startDelivery(context, [
      recordingSender(),
      recordingSender(undefined, "other"),
    ])
    await remember(routeTo("6", { channel: "other", messageId: "70" }))
    assert.throws(() => delivery.resolve("main", { channel: "test" }), { code: "no-route" })
    assert.deepEqual(delivery.resolve("main", { channel: "other" }), routeTo("6", { channel: "other" }))
    assert.equal(delivery.resolve("main", { channel: "test", to: "7" }).chatId, "7")
  })

  test("that cannot be is refused with the channels there are", async (context) => {
    const { delivery } = await startDelivery(context)
    assert.throws(() => delivery.resolve("main", { channel: "tset", to: "7" }), {
      code: "channel-unknown",
      message: /unknown or not configured/,
      hint: /test; or use "last"/,
    })
    assert.throws(() => delivery.resolve("main", { channel: "signal", to: "7" }), {
      message: /not part of this release/,
    })
    assert.throws(() => delivery.resolve("main", { channel: "test", to: "Ada" }), { code: "target-invalid" })
  })
})

test("a message of its own keeps its words but for tags, and takes thread, files and manner as given", async (context) => {
  const sender = recordingSender()
  const { delivery } = await startDelivery(context, [sender])
  const message = "[[reply_to:1]]\nMEDIA:/etc/passwd"
  const file = await delivery.takeMedia(routeTo("5"), "/m/a.ogg", AbortSignal.timeout(1_000))
  delivery.planMessage(routeTo("5"), { message, media: [file], threadId: "4", silent: true, asVoice: true })
  assert.deepEqual(sender.planned, [
    {
      route: routeTo("5", { threadId: "4" }),
      reply: {
        text: "MEDIA:/etc/passwd",
        replyTo: "1",
        media: [{ path: "/m/a.ogg", mediaType: "audio/ogg" }],
        silent: true,
        asVoice: true,
      },
    },
  ])
  const tagged = "[[audio_as_voice]][[reply_to:1]][[reply_to_current]] `[[reply_to:3]]`"
  delivery.planMessage(routeTo("5"), { message: tagged, replyTo: "2" })
  assert.deepEqual(sender.planned[1]?.reply, { text: "`[[reply_to:3]]`", media: [], replyTo: "2", asVoice: true })
})

describe("files that no tool has made", () => {
  const root = temporaryFolder()
  mkdirSync(join(root, "inbound"))
  writeFileSync(join(root, "inbound", "a.png"), "x")
  const path = join(root, "inbound", "a.png")
  const owner = (more: Partial<TurnInput> = {}) =>
    ({ origin: "owner", trusted: true, route: routeTo("5"), ...more }) as TurnInput
  const sent = (input: TurnInput, named: string, isTainted = false) => ownersFile({ input, isTainted }, named, root)

  test("go to an owner from the media folder, named by their path or from there", () => {
    assert.equal(sent(owner(), path), path)
    assert.equal(sent(owner(), "inbound/a.png"), path)
    assert.equal(sent(owner(), path, true), path)
    assert.equal(sent(owner({ route: routeTo("-5", { chatKind: "supergroup" }) }), path), path)
  })

  test("stay where others would read them, where others ask, and outside the folder", () => {
    assert.equal(sent(owner({ route: routeTo("-5", { chatKind: "supergroup" }) }), path, true), undefined)
    assert.equal(sent(owner({ origin: "approved-sender" }), path), undefined)
    assert.equal(sent(owner({ trusted: false }), path), undefined)
    for (const named of ["/etc/hostname", "../x", "inbound/../../x", "inbound", "inbound/gone.png", root]) {
      assert.equal(sent(owner(), named), undefined, named)
    }
  })
})
