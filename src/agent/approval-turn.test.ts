// Who the turn acts for that is told an owner's answer: for nobody more than the one that had asked.
import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { type Decision, createApprovals } from "../approvals/index.ts"
import { systemClock, systemIds } from "../kernel/index.ts"
import { type Route, type Session, mainKey } from "../sessions/index.ts"
import type { EventRow } from "../store/index.ts"
import { approvalTurn, askOwner } from "./approval-turn.ts"
import { trustOf } from "./taint.ts"
import type { TurnInput } from "./turn-input.ts"

const sessionKey = mainKey("main")
const route: Route = { channel: "chatapp", account: "default", chatId: "5", chatKind: "private" }
const owner: TurnInput = {
  agentId: "main",
  sessionKey,
  purpose: "chat",
  origin: "owner",
  trusted: true,
  text: "good morning",
  route,
}
const hook = {
  name: "Orders",
  wakeMode: "now" as const,
  callback: { url: "https://receiver.example/x", mapping: "orders" },
}
const event = { trusted: 0, origin: "webhook", share_history: 0 } as EventRow

for (const decision of ["allow", "deny"] as const satisfies Decision[]) {
  for (const [asker, input, events, trusted, historyTurns] of [
    ["a turn that was shown a webhook's event beside its owner's words", owner, [event], false, undefined],
    ["a heartbeat that a webhook has caused", { ...owner, purpose: "heartbeat", origin: "system" }, [event], false, 0],
    [
      "a webhook's own turn",
      { ...owner, purpose: "hook", origin: "webhook", trusted: false, hook },
      [],
      false,
      undefined,
    ],
    ["an owner's turn", owner, [], true, undefined],
    ["an owner's turn that is shown little", { ...owner, historyTurns: 3 }, [], true, 3],
  ] as const) {
    test(`after "${decision}" a turn acts as ${asker} did`, async (context) => {
      const told: TurnInput[] = []
      const store = await testStore(context)
      const timeText = (ms: number) => new Date(ms).toISOString()
      const approvals = createApprovals({
        store,
        clock: systemClock,
        ids: systemIds,
        log: silentLog,
        validMs: () => 60_000,
        tell: () => true,
        resume: (_write, row) => void told.push(approvalTurn("run-2", row, timeText).payload as unknown as TurnInput),
      })
      const turn = {
        job: { run_id: "run-1" },
        session: { key: sessionKey } as Session,
        input: input as TurnInput,
        trust: trustOf(input as TurnInput, events),
      }
      const call = {
        tool: "message",
        callId: "1",
        step: 1,
        reason: "no",
        input: {},
        summary: "Send",
        action: { to: "6" },
        tainted: true,
      }
      await askOwner({ approvals, timeText }, turn, call)
      const [row] = approvals.list({ limit: 1 }).approvals
      await approvals.decide(row?.id ?? "", decision, "chat:5")
      assert.deepEqual(
        told.map((each) => [each.trusted, each.sessionKey, each.route?.chatId, each.historyTurns]),
        [[trusted, sessionKey, "5", historyTurns]],
      )
      // The run has its result posted once; of the answer's turn the main session is told as of the run.
      const { callback: _once, ...again } = hook
      assert.deepEqual(told[0]?.hook, "hook" in input ? again : undefined)
      const answered = trustOf(told[0] as TurnInput, [])
      assert.notEqual(answered.foreign, undefined, "what was asked about is no word of the owner's")
    })
  }
}

test("a call that nobody could look through is not asked about", async (context) => {
  const store = await testStore(context)
  const asked: string[] = []
  const approvals = createApprovals({
    store,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    validMs: () => 60_000,
    tell: (_write, { text }) => asked.push(text) > 0,
    resume: () => undefined,
  })
  const turn = {
    job: { run_id: "run-1" },
    session: { key: sessionKey } as Session,
    input: owner,
    trust: trustOf(owner, []),
  }
  const call = (text: string, callId: string) => {
    const gated = { reason: "Words of others are in this turn", summary: "Send a message", action: { text } }
    return { ...gated, tool: "message", input: { text }, callId, step: 1, tainted: true }
  }
  const options = { approvals, timeText: String }
  const long = await askOwner(options, turn, call(`hello${" ".repeat(20_000)}and my secret`, "1"))
  assert.equal(long.kind, "refused")
  assert.match(long.kind === "refused" ? long.text : "", /not asked: the call is too long/)
  assert.deepEqual(asked, [])
  const short = await askOwner(options, turn, call("hello", "2"))
  assert.match(short.kind === "refused" ? short.text : "", /Your owner has been asked/)
  assert.equal(asked.length, 1)
})
