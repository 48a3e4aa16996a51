// The reaction that says "seen": where it is shown, what it is, and that no reply suffers from it.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import { silentLog } from "../../../../test/support/store.ts"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { configSchema, resolveChatappAccount } from "../../../config/index.ts"
import { createDelivery } from "../../../delivery/index.ts"
import { systemIds } from "../../../kernel/index.ts"
import { createSessions } from "../../../sessions/index.ts"
import { parseAllowList } from "../../access.ts"
import type { OutboxRow } from "../../../store/index.ts"
import type { AccountSettings } from "../settings.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"
import { ackOf, takeAckBack } from "./ack.ts"
import { nearestReaction } from "./reaction-emoji.ts"

const person = 4242

function decide(
  given: {
    messages?: object
    chatapp?: object
    emoji?: string
    mentioned?: boolean
    chatKind?: string
    purpose?: TurnInput["purpose"]
    agentId?: string
  } = {},
): string | undefined {
  const identity =
    given.emoji === undefined ? {} : { agents: { list: [{ id: "main", identity: { emoji: given.emoji } }] } }
  const config = configSchema.parse({
    messages: given.messages,
    channels: { chatapp: given.chatapp ?? {} },
    ...identity,
  })
  const account = resolveChatappAccount(config, "default")
  const settings = { ...account, allow: parseAllowList([], []) } as unknown as AccountSettings
  const chatKind = (given.chatKind ?? "supergroup") as "private"
  const route = { channel: "chatapp", account: "default", chatId: "-1001", chatKind, messageId: "7" }
  const { purpose = "chat", agentId = "main", mentioned = true } = given
  const input = { agentId, purpose, route, mentioned }
  const ack = ackOf(config, settings, input)
  return ack && (ack.emoji ?? `none for ${ack.wanted}`)
}

describe("an ack reaction", () => {
  test("is shown by its scope; in groups on mention when nothing is said", () => {
    assert.equal(decide(), "👀")
    assert.equal(decide({ mentioned: false }), undefined)
    assert.equal(decide({ purpose: "hook" }), undefined, "nobody has written who could see it")
    assert.equal(decide({ chatKind: "private" }), undefined)
    const shown = (ackReactionScope: string) =>
      [{ chatKind: "private" }, { mentioned: false }, {}].map(
        (where) => decide({ messages: { ackReactionScope }, ...where }) !== undefined,
      )
    assert.deepEqual(shown("off"), [false, false, false])
    assert.deepEqual(shown("none"), [false, false, false])
    assert.deepEqual(shown("direct"), [true, false, false])
    assert.deepEqual(shown("group-all"), [false, true, true])
    assert.deepEqual(shown("group-mentions"), [false, false, true])
    assert.deepEqual(shown("all"), [true, true, true])
  })

  test("is shown everywhere with reactionLevel ack unless a scope says where, and nowhere with off", () => {
    const ack = { chatapp: { reactionLevel: "ack" } }
    assert.equal(decide({ ...ack, chatKind: "private" }), "👀")
    assert.equal(decide({ ...ack, chatKind: "private", messages: { ackReactionScope: "group-all" } }), undefined)
    assert.equal(decide({ chatapp: { reactionLevel: "off" }, messages: { ackReactionScope: "all" } }), undefined)
  })

  test("is the configured one, else the agent's, else the usual; as near as the platform allows", () => {
    assert.equal(decide({ emoji: "🔥" }), "🔥")
    assert.equal(decide({ emoji: "🦀" }), "👀")
    assert.equal(decide({ emoji: "🔥", agentId: "other" }), "👀")
    assert.equal(decide({ emoji: "🔥", messages: { ackReaction: "❤️" } }), "❤")
    assert.equal(decide({ messages: { ackReaction: "✅" } }), "👍")
    assert.equal(decide({ messages: { ackReaction: "🦀" } }), "none for 🦀")
    assert.equal(decide({ emoji: "🔥", messages: { ackReaction: "" } }), undefined)
    assert.equal(nearestReaction("👍🏽"), "👍")
    assert.equal(nearestReaction("words"), undefined)
  })
})

test("an ack that was never shown, or that the agent has put another reaction over, is not taken back", () => {
  const route = {
    channel: "chatapp",
    account: "default",
    chatId: "-1001",
    chatKind: "supergroup" as const,
    messageId: "7",
  }
  const ack = { route, wanted: "👀", emoji: "👀" as const }
  const reaction = (chatId: string, messageId: string) =>
    ({ kind: "react", chat_id: chatId, payload: JSON.stringify({ messageId, emoji: "🔥" }) }) as OutboxRow
  const removals = (earlier: OutboxRow[], more: object = {}) => takeAckBack({ ...ack, ...more }, earlier).length
  assert.equal(removals([reaction("-1001", "7")]), 0)
  assert.equal(removals([reaction("-1001", "8"), reaction("-1002", "7")]), 1)
  assert.equal(removals([], { wanted: "🦀", emoji: undefined }), 0)
})

describe("an ack reaction of a turn", () => {
  let bench: Bench
  afterEach(() => bench.end())

  async function begin(messages: object, chatapp: object = {}) {
    bench = await startBench({ chatapp: { allowFrom: [person], ...chatapp }, config: { messages } })
    bench.emulator.control.addUser({ id: person })
    const { message_id: messageId } = bench.emulator.control.sendText({ userId: person, text: "hello" })
    const route = {
      channel: "chatapp",
      account: "default",
      chatId: `${person}`,
      chatKind: "private" as const,
      messageId: `${messageId}`,
    }
    const input: TurnInput = {
      agentId: "main",
      sessionKey: "agent:main:main",
      purpose: "chat",
      origin: "owner",
      trusted: true,
      text: "hello",
      route,
    }
    await bench.until(() => bench.jobs().length === 1, "the message")
    return input
  }
  const reactions = () => bench.emulator.control.calls({ method: "setMessageReaction" })
  const emojiOf = (call: { parameters: Record<string, unknown> } | undefined) => {
    const reaction = call?.parameters["reaction"]
    return ((typeof reaction === "string" ? JSON.parse(reaction) : reaction) as { emoji: string }[])[0]?.emoji
  }
  const dropped = async () => {
    const [status] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5_000) })
    return status?.counters["decoration-dropped"]
  }
  async function reply(input: TurnInput): Promise<void> {
    const { store, channel } = bench
    const delivery = createDelivery({
      sessions: createSessions({ store, ids: systemIds, config: () => configSchema.parse({}).session }),
      senders: () => new Map([[channel.name, channel.sender]]),
      ackMaxChars: () => 300,
      log: silentLog,
    })
    await store.write(async (write) =>
      delivery.deliverTurn(write, {
        input,
        jobId: bench.jobs()[0]?.id ?? 0,
        text: "hi",
        media: new Set(),
        isError: false,
      }),
    )
    await bench.until(() => bench.outbox().every((row) => row.state === "sent"), "the reply")
  }

  test("is there at once and goes away behind the reply when that is wanted", async () => {
    const input = await begin({ ackReactionScope: "all", removeAckAfterReply: true })
    const shown = bench.emulator.control.waitForCall({ method: "setMessageReaction" })
    const observer = bench.channel.observe(input, "run", { reasoning: "off" })
    await shown
    observer.end()
    await reply(input)
    assert.deepEqual(reactions().map(emojiOf), ["👀", undefined])
    const sent = bench.emulator.control.calls({ method: "sendMessage" })[0]
    assert.ok((reactions()[1]?.startedAt ?? 0) >= (sent?.finishedAt ?? Infinity))
  })

  test("that is still on its way neither holds up the reply nor comes after its own removal", async () => {
    const input = await begin({ ackReactionScope: "all", removeAckAfterReply: true })
    bench.emulator.control.fault({ kind: "slow", method: "setMessageReaction", delayMs: 700, times: 1 })
    const begun = bench.emulator.control.waitForCall({ method: "setMessageReaction", phase: "started" })
    bench.channel.observe(input, "run", { reasoning: "off" }).end()
    await begun
    await reply(input)
    const [set, removed] = reactions()
    const sent = bench.emulator.control.calls({ method: "sendMessage" })[0]
    assert.ok((sent?.finishedAt ?? Infinity) <= (set?.finishedAt ?? 0))
    assert.ok((removed?.startedAt ?? 0) >= (set?.finishedAt ?? Infinity))
  })

  test("stays where the agent has put a reaction of its own, and where removal is not wanted", async () => {
    const input = await begin({ ackReactionScope: "all", removeAckAfterReply: true })
    await bench.store.write(async (write) => {
      const [row] = bench.channel.sender.plan(input.route as NonNullable<TurnInput["route"]>, { text: "x", media: [] })
      assert.ok(row)
      const payload = { messageId: input.route?.messageId ?? "", emoji: "🔥" }
      write.addOutbox({ ...row, kind: "react", payload, jobId: bench.jobs()[0]?.id ?? 0 })
    })
    await reply(input)
    assert.deepEqual(reactions().map(emojiOf), ["🔥"])
  })

  test("goes away although the agent has put a reaction on another message", async () => {
    const input = await begin({ ackReactionScope: "all", removeAckAfterReply: true })
    const { message_id: other } = bench.emulator.control.sendText({ userId: person, text: "another" })
    await bench.store.write(async (write) => {
      const [row] = bench.channel.sender.plan(input.route as NonNullable<TurnInput["route"]>, { text: "x", media: [] })
      assert.ok(row)
      const payload = { messageId: `${other}`, emoji: "🔥" }
      write.addOutbox({ ...row, kind: "react", payload, jobId: bench.jobs()[0]?.id ?? 0 })
    })
    await reply(input)
    assert.deepEqual(reactions().map(emojiOf), ["🔥", undefined])
  })

  test("that the platform refuses costs the reply nothing and leaves one line in the log", async () => {
    const input = await begin({ ackReactionScope: "all" })
    bench.emulator.control.fault({ kind: "429", method: "setMessageReaction", retryAfter: 60, times: 0 })
    bench.channel.observe(input, "run", { reasoning: "off" }).end()
    await reply(input)
    await bench.until(() => bench.logLines.some((line) => line.includes("ack not shown")), "the log line")
    assert.equal(reactions().length, 1)
    assert.equal(await dropped(), 1)
  })

  test("is left out where an account has shown ten things within a second, and counted", async () => {
    const input = await begin({ ackReactionScope: "all" })
    for (let turn = 1; turn <= 12; turn += 1) bench.channel.observe(input, `run-${turn}`, { reasoning: "off" }).end()
    await reply(input)
    assert.deepEqual([reactions().length, await dropped()], [10, 2])
  })

  test("for which the platform has nothing like it is not tried, and said so", async () => {
    const input = await begin({ ackReactionScope: "all", ackReaction: "🦀" })
    bench.channel.observe(input, "run", { reasoning: "off" }).end()
    await reply(input)
    assert.deepEqual(reactions(), [])
    assert.ok(bench.logLines.some((line) => line.includes("does not take this ack reaction")))
  })
})
