import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { testStore } from "../../../test/support/store.ts"
import { systemClock } from "../../kernel/index.ts"
import type { Client } from "./client.ts"
import { identifyBot, readIdentity } from "./identify.ts"

test("the bot's name is asked for until the platform says it, also after it was refused", async (context) => {
  const store = await testStore(context)
  const answers = [
    { ok: false, failure: { kind: "refused", code: 401, description: "Unauthorized" } },
    { ok: false, failure: { kind: "refused", code: 404, description: "Not Found" } },
    { ok: true, value: { username: "a_bot" } },
  ]
  const client = { call: async () => answers.shift() } as unknown as Client
  const told: string[] = []
  await identifyBot({
    client,
    store,
    botId: "1",
    clock: { ...systemClock, sleep: async () => undefined },
    log: pino({ level: "silent" }),
    signal: new AbortController().signal,
    onIdentity: ({ name }) => told.push(name),
    onAsked: () => told.push("asked"),
  })
  assert.deepEqual(told, ["asked", "asked", "a_bot", "asked"])
  assert.equal((await readIdentity(store, "1"))?.name, "a_bot")
})
