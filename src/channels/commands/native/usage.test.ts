import assert from "node:assert/strict"
import { test } from "node:test"
import type { CapState } from "../../../budget/contract.ts"
import type { CommandCall, CommandServices } from "../contract.ts"
import { capButtons, usage } from "./usage.ts"

const cap = (scope: CapState["scope"], key: string, spent: number): CapState => ({
  id: key === "" ? scope : `${scope}:${key}`,
  scope,
  key,
  since: 0,
  until: null,
  dollars: { limit: 1, allowed: 0, spent, held: 0 },
  tokens: null,
  share: spent,
  nearest: "dollars",
  isListed: scope !== "job" || spent >= 0.5,
  state: spent >= 1 ? "reached" : "open",
  liftedUntil: null,
})

async function answer(caps: CapState[], args = "", origin = "owner", allow?: (...given: unknown[]) => unknown) {
  const services = {
    sessions: { find: () => undefined },
    usage: { today: () => ({ calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, dollars: 0, unpriced: 0 }) },
    budget: { list: () => caps, allow },
  } as unknown as CommandServices
  const call = { command: "usage", args, sessionKey: "agent:main:main", sender: { id: "1", origin } }
  const { text } = await usage.run(call as CommandCall & { jobId: number; runId: string }, services)
  return text ?? ""
}

test("of the caps of tasks those stand there that are near theirs, and all others", async () => {
  const text = await answer([cap("day", "", 0.1), cap("job", "a", 0.2), cap("job", "b", 0.5), cap("job", "c", 1)])
  assert.deepEqual(
    [...text.matchAll(/\*\*Cap\*\* `([^`]+)`/g)].map(([, id]) => id),
    ["day", "job:b", "job:c"],
  )
  assert.match(await answer([cap("job", "a", 0.2)]), /\*\*Caps\*\* one for each task; none is near it/)
  assert.match(await answer([]), /\*\*Caps\*\* none is set/)
})

test("the button of a cap of both units raises the one that is used up", () => {
  const tokens = { limit: 1_000, allowed: 0, spent: 1_000, held: 0 }
  const of = (nearest: CapState["nearest"]) => capButtons({ ...cap("day", "", 1), tokens, nearest })[0]?.[0]
  assert.equal(of("tokens")?.text, "Allow 100,000 tokens more")
  assert.equal(of("tokens")?.data, "/usage more day 100000 tokens at:1000")
  assert.equal(of("dollars")?.data, "/usage more day $1 at:1")
})

test("an owner allows an amount of either unit, one more of the nearest, or everything until tomorrow", async () => {
  const day = cap("day", "", 1)
  const tokens = { ...cap("job", "t", 1), nearest: "tokens" as const }
  const allowed: unknown[] = []
  const allow =
    (resumed: number, isChanged: boolean, state: CapState["state"]) => (id: unknown, wanted: unknown, by: unknown) => {
      allowed.push([id, wanted, by])
      return Promise.resolve({ cap: { ...day, state }, resumed, isChanged })
    }
  const ask = (args: string, resumed = 0, isChanged = false, state: CapState["state"] = "open") =>
    answer([day, tokens], args, "owner", allow(resumed, isChanged, state))
  assert.match(await ask("more day $5"), /^Today.*\bis now: .* used\.$|^The .*\bis now: .* used\.$/)
  assert.match(await ask("more day 50,000 tokens", 2), /used\. What I had stopped goes on \(2\)\.$/)
  await ask("more day $0.50")
  await ask("more day")
  await ask("more job:t at:1000")
  await ask("more gone")
  assert.match(await ask("lift day", 0, false, "lifted"), /does not hold until tomorrow\.$/)
  assert.match(
    await ask("more day at:1", 0, true),
    /was raised already, and is now: .*Write `\/usage more day` for more\.$/,
  )
  assert.deepEqual(allowed, [
    ["day", { dollars: 5 }, "chat:1"],
    ["day", { tokens: 50_000 }, "chat:1"],
    ["day", { dollars: 0.5 }, "chat:1"],
    ["day", { dollars: 1 }, "chat:1"],
    ["job:t", { tokens: 100_000, ifMostIs: 1000 }, "chat:1"],
    ["gone", { dollars: 1 }, "chat:1"],
    ["day", { untilTomorrow: true }, "chat:1"],
    ["day", { dollars: 1, ifMostIs: 1 }, "chat:1"],
  ])
  for (const args of [
    "more",
    "more day 5",
    "more day $0",
    "more day 0 tokens",
    "more day $1.234",
    "lift day now",
    "less day $5",
  ])
    await assert.rejects(ask(args), { message: "I do not know what to allow" }, args)
  await assert.rejects(answer([day], "more day $5", "approved-sender"), { message: "Only an owner may allow more." })
  assert.equal(allowed.length, 8)
})
