// The models with what bounds and counts their calls: registry -> governor -> ledger.
import { type Governor, type Ledger, createLedger } from "../budget/index.ts"
import { AppError } from "../kernel/index.ts"
import { ModelFailure, type ModelRegistry, createModelRegistry, isModelAway } from "../models/index.ts"
import { type BudgetParts, composeBudget } from "./budget.ts"
import { type Core, userTimeZone } from "./core.ts"
import { modelsView } from "./models/view.ts"

export interface Spending {
  models: ModelRegistry
  /** Why the last call was answered by no model, when it was not long ago. */
  modelTrouble: () => AppError | undefined
  ledger: Ledger
  budget: Governor
}

export function composeSpending(core: Core, parts: Omit<BudgetParts, "ledger">): Spending {
  const ledger = composeLedger(core)
  const budget = composeBudget(core, { ...parts, ledger })
  const { models, trouble } = watchModels(core, composeModels(core, budget))
  return { models, modelTrouble: trouble, ledger, budget }
}

function composeLedger(core: Core): Ledger {
  const { store, clock, log, background, kept } = core
  const timeZone = () => userTimeZone(core.config())
  const onRecovered = (listener: () => void) => kept.onRecovered(listener)
  return createLedger({ store, clock, background, timeZone, onRecovered, log: log.child({ part: "budget" }) })
}

function composeModels(core: Core, budget: Governor): ModelRegistry {
  const { clock, ids, redactor, log } = core
  return createModelRegistry({
    view: () => modelsView(core.config()),
    environment: core.holder.snapshot().environment.variables,
    clock,
    ids,
    redactor,
    log: log.child({ part: "models" }),
    admit: budget.admit,
  })
}

/** Longer ago it says nothing of now. */
const troubleMs = 15 * 60_000

function watchModels({ clock }: Core, registry: ModelRegistry) {
  let last: { error: AppError; at: number } | undefined
  const models: ModelRegistry = {
    describe: (selection) => registry.describe(selection),
    async complete(selection, request) {
      try {
        const reply = await registry.complete(selection, request)
        last = undefined
        return reply
      } catch (error) {
        const isAway = isModelAway(error) || (error instanceof ModelFailure && error.isOfPlace)
        if (error instanceof AppError && isAway) last = { error, at: clock.monotonic() }
        throw error
      }
    },
  }
  return { models, trouble: () => (last && clock.monotonic() - last.at < troubleMs ? last.error : undefined) }
}
