// Deliveries of other systems -> jobs and events in the store, by the same code that answers a request.
import { createRecorder } from "../../src/hooks/recorder.ts"
import { type ProcessOptions, processDelivery } from "../../src/hooks/process.ts"
import { prepareSettings } from "../../src/hooks/settings.ts"
import { findAnswer } from "../../src/hooks/store.ts"
import type { Overrides } from "../../src/hooks/transform/contract.ts"
import type { Background, JsonObject, Redactor } from "../../src/kernel/index.ts"
import { agentId, mainSession, ownerChat, type WorldParts } from "./parts.ts"

export interface HookIntake {
  post(
    path: string,
    payload: JsonObject,
    more?: { headers?: Record<string, string>; transformed?: Overrides },
  ): Promise<void>
}

export function createHookIntake(parts: WorldParts & { background: Background; redactor: Redactor }): HookIntake {
  const { store, clock, ids, log, redactor } = parts
  return {
    async post(path, payload, { headers = {}, transformed = {} } = {}) {
      const { hooks } = parts.config()
      const options: ProcessOptions = {
        ids,
        clock,
        log,
        mainAgentId: () => agentId,
        mainSessionKey: () => mainSession,
        resolveRoute: async () => ({ route: ownerChat }),
        checkModel: () => undefined,
        ingest: (entry) => store.ingest(entry),
        findAnswer: (key) => findAnswer(store, key),
        runTransform: async () => transformed,
        underWay: new Map(),
        recorder: createRecorder(parts),
      }
      await processDelivery(options, prepareSettings(hooks, hooks.token ?? "", { log, redactor }), {
        receivedAt: clock.now(),
        beganAt: clock.monotonic(),
        mapping: "",
        path,
        method: "POST",
        headers,
        query: {},
        body: Buffer.from(JSON.stringify(payload)),
        payload,
        proof: { kind: "token" },
      })
    },
  }
}
