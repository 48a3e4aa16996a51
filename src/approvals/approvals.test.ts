import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { systemClock, systemIds } from "../kernel/index.ts"
import type { ApprovalRow } from "../store/index.ts"
import { type ApprovalQuestion, canonicalJson, createApprovals, describeAction, digestOf } from "./index.ts"

const minute = 60_000

async function approvalsOf(context: TestContext) {
  let shift = 0
  const clock = { ...systemClock, now: () => 1_790_000_000_000 + shift }
  const store = await testStore(context, { clock })
  const told: ApprovalRow[] = []
  const resumed: string[] = []
  const approvals = createApprovals({
    store,
    clock,
    ids: systemIds,
    log: silentLog,
    validMs: () => 60 * minute,
    tell: (_write, row) => told.push(row) > 0,
    resume: (_write, row) => void resumed.push(row.state),
  })
  const expiry = (id: string) => ({ payload: JSON.stringify({ id }) }) as never
  return {
    approvals,
    store,
    told,
    resumed,
    forward: (ms: number) => void (shift += ms),
    async expire(id: string) {
      const end = await approvals.expire(expiry(id))
      await store.write(async (write) => await end.commit?.(write))
    },
  }
}

const question = (more: Partial<ApprovalQuestion> = {}): ApprovalQuestion => ({
  runId: "run",
  sessionKey: "agent:main:main",
  agentId: "main",
  origin: "owner",
  tool: "message",
  action: { to: "5", text: "hi" },
  summary: "Send a message",
  callKey: "run:1:a",
  resume: {},
  ...more,
})

async function asked(approvals: Awaited<ReturnType<typeof approvalsOf>>["approvals"], more = {}): Promise<string> {
  const answer = await approvals.request(question(more))
  assert.ok(answer.kind === "asked", answer.kind)
  return answer.id
}

describe("what an owner has allowed", () => {
  test("is done once, whatever the order of its fields", async (context) => {
    const { approvals, resumed } = await approvalsOf(context)
    await approvals.decide(await asked(approvals), "allow", "chat:1")
    assert.deepEqual(resumed, ["allowed"])
    const other = { action: { text: "hi", to: "5" }, callKey: "run2:1:a", runId: "run2" }
    assert.deepEqual(await approvals.request(question(other)), { kind: "allowed" })
    // The same call after a crash; every other one is asked about.
    assert.deepEqual(await approvals.request(question(other)), { kind: "allowed" })
    assert.equal((await approvals.request(question({ callKey: "run2:2:a" }))).kind, "asked")
  })

  for (const [name, more] of [
    ["another text", { action: { to: "5", text: "hi!" } }],
    ["one field more", { action: { to: "5", text: "hi", silent: true } }],
    ["another tool", { tool: "chatapp" }],
    ["another session", { sessionKey: "agent:main:hook:x" }],
  ] as const) {
    test(`is not ${name}`, async (context) => {
      const { approvals } = await approvalsOf(context)
      await approvals.decide(await asked(approvals), "allow", "chat:1")
      assert.equal((await approvals.request(question(more))).kind, "asked")
    })
  }

  test("lapses when its time is over", async (context) => {
    const { approvals, forward } = await approvalsOf(context)
    const id = await asked(approvals)
    await approvals.decide(id, "allow", "chat:1")
    forward(60 * minute)
    assert.equal(approvals.read(id).state, "expired")
    assert.equal((await approvals.request(question())).kind, "asked")
  })
})

test("of two who answer at once the second comes too late", async (context) => {
  const { approvals, resumed } = await approvalsOf(context)
  const id = await asked(approvals)
  const answers = await Promise.all([approvals.decide(id, "deny", "a"), approvals.decide(id, "allow", "b")])
  assert.deepEqual([answers.map(({ kind }) => kind), resumed], [["decided", "closed"], ["denied"]])
})

test("no answer ends as expired, told once; an answer after that changes nothing", async (context) => {
  const { approvals, resumed, expire, forward } = await approvalsOf(context)
  const id = await asked(approvals)
  forward(60 * minute)
  await expire(id)
  await expire(id)
  assert.equal((await approvals.decide(id, "allow", "a")).kind, "closed")
  assert.deepEqual([resumed, approvals.read(id).state], [["expired"], "expired"])
})

test("the expiry of a question that was answered does nothing, and its job is gone", async (context) => {
  const { approvals, resumed, expire, store } = await approvalsOf(context)
  const id = await asked(approvals)
  await approvals.decide(id, "deny", "a")
  await expire(id)
  assert.deepEqual(resumed, ["denied"])
  const open = store.handle.prepare("select 1 from job where state = 'ready' and kind = 'approval-expiry'").all()
  assert.deepEqual(open, [])
})

test("a question that waits is not put again, one that was denied not soon", async (context) => {
  const { approvals, told, forward } = await approvalsOf(context)
  const id = await asked(approvals)
  assert.equal((await approvals.request(question())).kind, "waiting")
  await approvals.decide(id, "deny", "a")
  assert.equal((await approvals.request(question())).kind, "denied")
  assert.equal(told.length, 1)
  forward(60 * minute)
  assert.equal((await approvals.request(question())).kind, "asked")
})

test("neither a session nor all webhooks together fill an owner's chat with questions", async (context) => {
  const { approvals, told } = await approvalsOf(context)
  for (let n = 0; n < 20; n += 1) await approvals.request(question({ action: n }))
  assert.equal(told.length, 5)
  for (let n = 0; n < 40; n += 1) {
    await approvals.request(question({ action: n, origin: "webhook", sessionKey: `agent:main:hook:${n}` }))
  }
  assert.equal(told.length, 15)
  assert.equal((await approvals.request(question({ sessionKey: "agent:main:chatapp:group:-1" }))).kind, "asked")
})

test("an id is found by its beginning, and what is no id is not found", async (context) => {
  const { approvals } = await approvalsOf(context)
  const id = await asked(approvals)
  assert.equal(approvals.read(id.slice(0, 8).toUpperCase()).id, id)
  for (const wrong of ["", "%", "_______", "zzzz", "0000'--"]) {
    assert.throws(() => approvals.read(wrong), { code: "not-found" })
  }
})

test("an action is described whole, with nothing hidden and nothing that ends its block", () => {
  const text = describeAction("Send", { text: "a\u202eb\u200bc ````` \n```", long: "x".repeat(5_000) })
  assert.match(text, /a\\u\{202e\}b\\u\{200b\}c/)
  assert.ok(text.includes("x".repeat(5_000)))
  const shown = describeAction("To\nyou\u2028", { text: "\u{e0041}🦞é\u0301\ud83e \ufeff\u{10ffff}\u007f" })
  assert.ok(shown.startsWith("To\\u{a}you\\u{2028}\n\n```\n{\n  "))
  // What JSON escapes by itself stands as that.
  assert.ok(shown.includes('"\\u{e0041}🦞é\u0301\\ud83e \\u{feff}\\u{10ffff}\\u{7f}"\n}\n```'))
  assert.ok(text.startsWith("Send\n\n``````\n{") && text.endsWith("}\n``````"))
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}')
  assert.notEqual(digestOf("a", { b: 1 }), digestOf("a", { b: "1" }))
})
