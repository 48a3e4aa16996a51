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

test("whether an owner is asked, and what the model is told of it", async (context) => {
  const store = await testStore(context)
  let isTold = true
  const approvals = createApprovals({
    store,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    validMs: () => 60_000,
    tell: () => isTold,
    resume: () => undefined,
  })
  const ask = async (text: string, input: Partial<TurnInput> = {}, more: object = {}) => {
    const whole = { ...owner, ...input }
    const turn = {
      job: { run_id: "run-1" },
      session: { key: sessionKey } as Session,
      input: whole,
      trust: trustOf(whole, []),
    }
    const gated = { reason: "Words of others are in this turn", summary: "Send a message", action: { text } }
    const call = { ...gated, tool: "message", input: { text }, callId: text, step: 1, tainted: true, ...more }
    const answer = await askOwner({ approvals, timeText: () => "noon" }, turn, call)
    return answer.kind === "refused" ? answer.text : answer.kind
  }
  const asked = () => approvals.list({ limit: 50 }).approvals.length
  for (const origin of ["group-member", "approved-sender"] as const) {
    const text = await ask("for a stranger", { origin, trusted: false })
    assert.equal(text, "forbidden: Words of others are in this turn.")
  }
  assert.equal(asked(), 0, "they cannot set questions before an owner")
  assert.match(await ask("policy", { origin: "group-member", trusted: false }, { byPolicy: true }), /has been asked/)
  assert.match(
    await ask("webhook", { origin: "webhook", trusted: false }),
    /has been asked \(approval \w+, until noon\)/,
  )
  assert.equal(asked(), 2)
  assert.match(
    await ask("webhook", { origin: "webhook", trusted: false }),
    /Not done\. Your owner was asked about it already/,
  )
  assert.equal(asked(), 2)
  isTold = false
  assert.match(
    await ask("nowhere"),
    /There is no chat to ask in, so the question stands in the list of approvals \(approval/,
  )
  const [row] = approvals.list({ limit: 1 }).approvals
  await approvals.decide(row?.id ?? "", "deny", "chat:5")
  assert.match(await ask("nowhere"), /your owner has denied exactly this\. Do not try it again/)
})

test("the turn of an answer says how the question ended, and shows the call as whose words it is made of", () => {
  const turnOf = (state: string, resume: object = {}) => {
    const kept = { agentId: "main", sessionKey: "old", origin: "owner", trusted: true, route, ...resume }
    const row = { id: "q1", state, session_key: sessionKey, expires_at: 7, tool: "browser", action: '{"click":"Buy"}' }
    const whole = { ...row, resume: JSON.stringify(kept) } as unknown as Parameters<typeof approvalTurn>[1]
    return approvalTurn("run-2", whole, (ms) => `at ${ms}`).payload as unknown as TurnInput
  }
  const allowed = turnOf("allowed")
  assert.deepEqual([allowed.header, allowed.sessionKey, allowed.wrap], ["[approval q1: allowed]", sessionKey, false])
  assert.match(
    allowed.text,
    /has allowed the call below: once, exactly as it stands, until at 7\. .* what it was for\.$/,
  )
  assert.deepEqual(allowed.context, [{ label: "The call of the tool browser:", text: '{"click":"Buy"}' }])
  assert.match(turnOf("denied").text, /^Your owner has denied the call below/)
  for (const state of ["expired", "cancelled"]) {
    assert.match(turnOf(state).text, /has expired and was not done/)
    assert.equal(turnOf(state).header, "[approval q1: expired]")
  }
  const given = { kind: "click", ref: "e12" }
  const byPolicy = turnOf("allowed", { byPolicy: true, given, isOwn: true })
  assert.match(byPolicy.text, /loaded anew meanwhile, open it again and give the ref that the same element has now\.$/)
  assert.deepEqual(byPolicy.context, [
    { label: "The call of the tool browser:", text: JSON.stringify(given), isOwn: true },
    { label: "What it does, as your owner was asked:", text: '{"click":"Buy"}', isOwn: true },
  ])
  assert.equal("byPolicy" in byPolicy || "given" in byPolicy || "isOwn" in byPolicy, false)
  assert.doesNotMatch(turnOf("denied", { byPolicy: true, given }).text, /open it again/)
})
