import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { runProgram } from "../testing/run-program.ts"
import { answerJson, startStandIn, type Answer } from "../testing/stand-in-gateway.ts"

const sums = {
  calls: 12,
  input: 1_234_567,
  output: 8_901,
  cacheRead: 1_000_000,
  cacheWrite: null,
  reasoning: 0,
  cost: 0.01234,
  uncounted: 0,
  unpriced: 0,
}

const summary = {
  ok: true,
  by: "model",
  since: Date.parse("2026-11-14T23:00:00Z"),
  until: Date.parse("2026-11-21T23:00:00Z"),
  timeZone: "Europe/Berlin",
  rows: [
    { key: "anthropic/large", ...sums },
    { key: "local/small", ...sums, calls: 3, input: null, output: null, cost: null, uncounted: 3, unpriced: 3 },
  ],
  more: false,
  totals: { ...sums, calls: 15, cost: 12.5, uncounted: 3, unpriced: 3 },
}

const noCap = "no cap on spending is set: svc config set budget.day.dollars 5\n"

async function usage(context: TestContext, words: readonly string[], answer: Answer) {
  const gateway = await startStandIn(answer)
  context.after(() => gateway.stop())
  const result = await runProgram(["usage", ...words], { environment: { ...gateway.environment, TZ: "UTC" } })
  return { ...result, asked: gateway.requests.map(({ method, path }) => `${method} ${path}`) }
}

test("usage prints a table for people, with its range and what is not known", async (context) => {
  const result = await usage(context, ["--by", "model", "--since", "7d"], answerJson(summary))
  assert.deepEqual(result.asked, ["GET /api/usage?by=model&since=7d&limit=50", "GET /api/budget"])
  assert.equal(
    result.stdout,
    [
      "Model calls from 2026-11-15 00:00 to 2026-11-22 00:00, Europe/Berlin",
      "",
      "Model            Calls      Input  Output  Cache read  Cache write  Reasoning     Cost",
      "anthropic/large     12  1,234,567   8,901   1,000,000            ?          0  $0.0123",
      "local/small          3          ?       ?   1,000,000            ?          0        ?",
      "Total               15  1,234,567   8,901   1,000,000            ?          0   $12.50",
      "",
      "The cost of 3 of 15 calls is not known.",
      "The tokens of 3 of 15 calls are not known.",
      "",
    ].join("\n"),
  )
  assert.deepEqual([result.code, result.stderr], [0, noCap])
})

test("usage says when there are more rows, apart from the table", async (context) => {
  const result = await usage(context, ["--limit", "2"], answerJson({ ...summary, more: true }))
  assert.deepEqual(result.asked, ["GET /api/usage?by=day&limit=2", "GET /api/budget"])
  assert.match(result.stderr, /^there are more: /)
})

test("usage --json prints the gateway's own answer", async (context) => {
  const result = await usage(context, ["--until", "2026-11-01", "--json"], answerJson(summary))
  assert.deepEqual(result.asked, ["GET /api/usage?by=day&until=2026-11-01&limit=50", "GET /api/budget"])
  assert.deepEqual(JSON.parse(result.stdout), { ...summary, caps: [] })
})

test("usage without any call says what to do", async (context) => {
  const nothing = { ...sums, calls: 0, input: 0, output: 0, cacheRead: 0, cost: 0 }
  const result = await usage(context, [], answerJson({ ...summary, rows: [], totals: nothing }))
  assert.equal(result.stdout, "no model calls from 2026-11-15 00:00 to 2026-11-22 00:00, Europe/Berlin\n")
  assert.match(result.stderr, /offline model[^]*--since 400d[^]*svc config set agents\.defaults\.model/)
  assert.equal(result.code, 0)
})

test("usage refuses another group with those that there are, and passes on what the gateway refuses", async (context) => {
  const week = await usage(context, ["--by", "week"], answerJson(summary))
  assert.deepEqual([week.code, week.stdout, week.asked], [2, "", []])
  assert.match(week.stderr, /error: .*'week' is invalid.*day, model, session, job, agent, purpose/)
  const error = { code: "bad-request", message: 'since: is "soon"', hint: "Write days" }
  const soon = await usage(context, ["--since", "soon"], answerJson({ ok: false, error }, 400))
  assert.deepEqual([soon.code, soon.stderr], [2, 'error: since: is "soon"\nhint: Write days\n'])
})

test("usage leaves out the caps of tasks that are not near theirs; --json has them all", async (context) => {
  const job = (key: string, share: number) => ({ ...cap, id: `job:${key}`, scope: "job", key, share, state: "open" })
  const caps = [{ ...job("a", 0.2), isListed: false }, job("b", 0.5)]
  const shown = await usage(context, [], answerJson({ ...summary, caps: [...caps, cap] }))
  assert.match(shown.stdout, /\nCap +Used\njob:b +[^\n]*\nday +[^\n]*\n$/)
  const quiet = await usage(context, [], answerJson({ ...summary, caps: caps.slice(0, 1) }))
  assert.match(quiet.stdout, /\nCaps: one for each task; none is near it\n$/)
  assert.doesNotMatch(quiet.stderr, /no cap on spending is set/)
  const whole = await usage(context, ["--json"], answerJson({ ...summary, caps }))
  assert.equal((JSON.parse(whole.stdout) as { caps: unknown[] }).caps.length, 2)
})

const cap = {
  id: "day",
  scope: "day",
  key: "",
  since: 0,
  until: 1,
  dollars: { limit: 5, allowed: 1, spent: 6, held: 0 },
  tokens: { limit: 100_000, allowed: 0, spent: 1_000, held: 0 },
  share: 1,
  nearest: "dollars",
  isListed: true,
  state: "reached",
  liftedUntil: null,
}

test("usage shows the caps, and allows more", async (context) => {
  const shown = await usage(context, [], answerJson({ ...summary, caps: [cap] }))
  assert.match(shown.stdout, /\nCap  Used\nday  \$6\.00 of \$6\.00 and 1,000 of 100,000 tokens \(100 %, reached\)\n$/)
  const more = { ...cap, state: "open", share: 0.857 }
  const allowed = await usage(
    context,
    ["allow", "day", "--dollars", "$1"],
    answerJson({ ok: true, cap: more, resumed: 2 }),
  )
  assert.deepEqual(allowed.asked, ["POST /api/budget/allow"])
  assert.match(allowed.stdout, /^the cap of the day: .*\(85 %\)\n2 stopped runs go on\n$/)
  const wrong = await usage(context, ["allow", "day", "--dollars", "lots"], answerJson({}))
  assert.deepEqual([wrong.code, wrong.asked], [2, []])
  assert.match(wrong.stderr, /--dollars must be an amount above 0, such as 1.50/)
})
