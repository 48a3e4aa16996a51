// What the API does to conversations, as far as it concerns more than their rows.
import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { Activations } from "../channels/activation.ts"
import { systemIds } from "../kernel/index.ts"
import { configSchema } from "../config/index.ts"
import { createSessions } from "../sessions/index.ts"
import { sessionActions } from "./sessions.ts"

const key = "agent:main:chatapp:group:-100"

test("what a session has set for its group goes with it", async (context) => {
  const store = await testStore(context)
  const { session: config } = configSchema.parse({})
  const sessions = createSessions({ store, ids: systemIds, config: () => config })
  const activations = new Activations(store)
  const actions = sessionActions({ store, ids: systemIds }, sessions, () => activations.refresh())
  await store.write(async (write) => {
    sessions.saveSettings(write, sessions.open(write, key, "main"), { activation: "always" })
  })
  assert.equal(activations.of(key), "always")
  await actions.remove(key)
  assert.equal(activations.of(key), undefined)
})
