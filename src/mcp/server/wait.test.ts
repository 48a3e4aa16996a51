import assert from "node:assert/strict"
import { test } from "node:test"
import type { Json } from "../../kernel/index.ts"
import type { Caller } from "../contract.ts"
import { waitForMessage } from "./wait.ts"

test("a wait ends with what is shown at once, behind which a person's message would not be seen", async () => {
  const written = (id: number): Json => ({ id, message: { role: id <= 60 ? "assistant" : "user" } })
  const all = Array.from({ length: 61 }, (_, index) => written(index + 1))
  const asked: unknown[] = []
  const caller = {
    async call({ query }: { query: { after: number; limit: number } }) {
      assert.ok(!asked.includes(query.after), "the same is looked at again and again")
      asked.push(query.after)
      return { items: all.slice(query.after, query.after + query.limit) }
    },
  } as unknown as Caller
  const { signal } = new AbortController()
  const first = await waitForMessage({ session: "agent:main:main", after: 0 }, caller, signal)
  assert.equal((first["items"] as Json[]).length, 50)
  const second = await waitForMessage({ session: "agent:main:main", after: 50 }, caller, signal)
  assert.deepEqual(second["items"], all.slice(50))
})
