// A model registry over a model server, with its log kept in memory, for tests of what leaves and enters it.
import pino from "pino"
import { createRedactor, systemClock, systemIds } from "../../../src/kernel/index.ts"
import {
  type AdmitCall,
  createModelRegistry,
  type Environment,
  type ModelLimits,
  type ModelRegistry,
  type ModelRequest,
  type ModelsView,
} from "../../../src/models/index.ts"

export interface TestRegistry {
  registry: ModelRegistry
  view: ModelsView
  /** Log records so far. */
  records: Record<string, unknown>[]
}

/** Delays are short, so that three attempts take a moment; everything else is as shipped. */
export function createTestRegistry(
  view: Partial<ModelsView>,
  options: { environment?: Environment; limits?: Partial<ModelLimits>; admit?: AdmitCall } = {},
): TestRegistry {
  const records: Record<string, unknown>[] = []
  const write = (line: string) => void records.push(JSON.parse(line) as Record<string, unknown>)
  const whole: ModelsView = { providers: {}, defaultModel: "offline/commander", allowed: {}, agentModels: {}, ...view }
  const registry = createModelRegistry({
    view: () => whole,
    environment: options.environment ?? {},
    clock: systemClock,
    ids: systemIds,
    log: pino({ level: "debug" }, { write }),
    redactor: createRedactor(),
    limits: { retry: { attempts: 3, minDelayMs: 10, maxDelayMs: 20, jitter: 0 }, ...options.limits },
    admit: options.admit,
  })
  return { registry, view: whole, records }
}

/** A request with one message of the user; aborts by itself after ten seconds, so that no test can hang. */
export function userRequest(words: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "",
    messages: [{ role: "user", content: [{ type: "text", text: words }] }],
    tools: [],
    usedFor: { purpose: "test" },
    signal: AbortSignal.timeout(10_000),
    ...more,
  }
}
