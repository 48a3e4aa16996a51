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

async function answer(caps: CapState[]): Promise<string> {
  const services = {
    sessions: { find: () => undefined },
    usage: { today: () => ({ calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, dollars: 0, unpriced: 0 }) },
    budget: { list: () => caps },
  } as unknown as CommandServices
  const call = { command: "usage", args: "", sessionKey: "agent:main:main", sender: { id: "1", origin: "owner" } }
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
  assert.equal(of("tokens")?.data, "/usage more day at:1000")
  assert.equal(of("dollars")?.data, "/usage more day at:1")
})
