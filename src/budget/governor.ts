// Spending is bounded: call -> the most that it can take is held, durably -> it is made -> the ledger has what it took, and
// the rest is free again. A call that does not fit under its caps is not made. What a crash has cut counts as what was held
// for it: nobody knows better, and a cap that a crash can pass is none.
import { AppError, type Background, type Ids, type Log, raceAbort } from "../kernel/index.ts"
import type { AdmitCall, AdmittedCall, PlannedCall, Spent } from "../models/contract.ts"
import type { Store, Write } from "../store/index.ts"
import { describeCap, describeReached, enoughMore, mostOf } from "./cap-words.ts"
import { type Calendar, type Cap, type CapPlace, capId, capsOf, fitCall, placesOf, worstOf } from "./caps.ts"
import type { Allowed, CapAllowance, CapScope, CapState } from "./contract.ts"
import { BudgetExceeded } from "./exceeded.ts"
import { type LateWrites, type LateWritesOptions, createLateWrites } from "./late-writes.ts"
import type { Ledger } from "./ledger.ts"
import { type Look, capState, findCap, listCaps } from "./look.ts"
import { type Telling, type TellingOptions, createTelling, neededBy } from "./telling.ts"
import {
  addGrant,
  addStopped,
  factsOf,
  grantOf,
  insertHold,
  isStopped,
  loseHold,
  lostSince,
  openHolds,
  removeHold,
  takeStopped,
  totalOf,
} from "./totals.ts"

export interface GovernorOptions extends TellingOptions {
  ledger: Ledger
  ids: Ids
  log: Log
  background: Background
  /** Tells when the store can be written again. */
  onRecovered?: LateWritesOptions["onRecovered"]
  /** Takes up a run that a cap has ended, in the transaction that allows more. */
  resume: (write: Write, runId: string) => boolean
}

export interface Governor {
  admit: AdmitCall
  /** What another process had under way when it died counts as spent. Before anything is called. */
  recover(): Promise<void>
  /** The caps that are set, as they stand; all, or those of some scopes. */
  list(scopes?: readonly CapScope[]): CapState[]
  /** Calls of this month that were cut: nobody has told what they took. */
  cut(): Spent & { calls: number }
  /** Throws `not-found` for what is no cap, `bad-request` for what cannot be allowed. Tells what holds now. */
  allow(id: string, allowance: CapAllowance, by: string): Promise<Allowed>
}

/** A run that was ended longer ago is not what its owner has in mind. */
const resumeMs = 24 * 60 * 60 * 1000

type Verdict =
  | { kind: "admitted"; id: string; outputTokens: number }
  | { kind: "waits" }
  | { kind: "refused"; error: AppError }

interface State extends GovernorOptions {
  telling: Telling
  late: LateWrites
  /** Resolves when a call has ended, or more was allowed. */
  freed: PromiseWithResolvers<void>
}

export function createGovernor(options: GovernorOptions): Governor {
  const { store, clock } = options
  const telling = createTelling(options)
  const state: State = { ...options, telling, late: createLateWrites(options), freed: Promise.withResolvers() }
  return {
    admit: (plan, signal) => admit(state, plan, signal),
    recover: () => recover(state),
    list: (scopes) => listCaps(telling.look(), scopes),
    cut: () => lostSince(store, telling.calendar(clock.now()).month.since),
    allow: (id, allowance, by) => allow(state, id, allowance, by),
  }
}

function free(state: State): void {
  state.freed.resolve()
  state.freed = Promise.withResolvers()
}

async function admit(state: State, plan: PlannedCall, signal: AbortSignal): Promise<AdmittedCall> {
  const { store, clock, config, telling, log } = state
  for (;;) {
    signal.throwIfAborted()
    if (capsOf(plan, telling.calendar(clock.now()), config()).length === 0) return uncapped(state, plan)
    // Asked for before the question: a call that ends meanwhile is not missed.
    const ended = state.freed.promise
    const verdict = await store.write(async (write) => decide(state, write, plan))
    if (verdict.kind === "admitted") return admitted(state, plan, verdict)
    if (verdict.kind === "refused") throw verdict.error
    log.debug({ model: plan.model, run: plan.usedFor.runId }, "call waits for others under the same cap")
    await raceAbort(ended, signal)
  }
}

function decide(state: State, write: Write, plan: PlannedCall): Verdict {
  const { store, telling, log } = state
  const look = telling.look()
  const caps = capsOf(plan, look.calendar, look.config).filter((cap) => !isLifted(store, cap, look.now))
  const holds = openHolds(store)
  const rooms = caps.map((cap) => roomOf(store, write, cap, holds, look.calendar))
  const fit = fitCall(plan, rooms)
  if (fit.kind === "waits") return fit
  if (fit.kind === "fits") {
    const { outputTokens } = fit
    return { kind: "admitted", id: hold(state, write, plan, outputTokens), outputTokens }
  }
  const cap = caps[fit.at] as Cap
  const known = capState(look, cap)
  const { runId } = plan.usedFor
  log.warn({ cap: capId(cap), model: plan.model, run: runId, share: known.share }, "call not made: cap")
  if (runId !== undefined) addStopped(write, runId, cap)
  const toldAt = telling.reached(write, { cap, state: known, call: plan, plan })
  const wasLifted = () => runId !== undefined && !isStopped(store, runId, cap)
  return { kind: "refused", error: refusal(known, plan, { toldAt, wasLifted }) }
}

function hold({ ids, store }: State, write: Write, plan: PlannedCall, outputTokens: number): string {
  const { tokens, nanoDollars } = worstOf(plan, outputTokens)
  const { sessionKey = null, runId = null, purpose } = plan.usedFor
  const id = ids.uuid()
  insertHold(write, {
    id,
    boot_id: store.bootId,
    agent_id: plan.agentId,
    session_key: sessionKey,
    run_id: runId,
    purpose,
    model: plan.model,
    tokens,
    nano_dollars: nanoDollars,
  })
  return id
}

function admitted(
  state: State,
  plan: PlannedCall,
  { id, outputTokens }: { id: string; outputTokens: number },
): AdmittedCall {
  const { clock, ledger, late, telling } = state
  const later = (work: (write: Write) => void) => late.add({ work, done: () => free(state) })
  return {
    ...(outputTokens < plan.outputTokens ? { maxOutputTokens: outputTokens } : {}),
    settle: (record) =>
      ledger.record(record, {
        also(write, at) {
          removeHold(write, id)
          telling.count(write, plan, at, record.counted ?? worstOf(plan, outputTokens))
        },
        done: () => free(state),
      }),
    refund: () => later((write) => removeHold(write, id)),
    lose: (spent) =>
      later((write) => {
        loseHold(write, id, spent)
        telling.count(write, plan, clock.now(), spent)
      }),
  }
}

/** Nothing is held, but what it takes is counted: a cap that is set later begins with it. */
function uncapped({ ledger, telling }: State, plan: PlannedCall): AdmittedCall {
  return {
    settle: (record) =>
      ledger.record(record, {
        also: (write, at) => telling.count(write, plan, at, record.counted ?? worstOf(plan, 0)),
      }),
    refund: () => undefined,
    lose: () => undefined,
  }
}

async function recover({ store, telling, log }: State): Promise<void> {
  const lost = await store.write(async (write) => {
    const left = openHolds(store).filter((each) => each.boot_id !== store.bootId)
    for (const each of left) {
      const spent = { tokens: each.tokens, nanoDollars: each.nano_dollars }
      loseHold(write, each.id, spent)
      telling.count(write, factsOf(each), each.created_at, spent)
    }
    return left.length
  })
  if (lost > 0) log.warn({ calls: lost }, "calls of an earlier process count as what was held for them")
}

async function allow(state: State, id: string, allowance: CapAllowance, by: string): Promise<Allowed> {
  const { store, clock, telling, log, resume } = state
  const cap = findCap(telling.look(), id)
  const given = readAllowance(cap, allowance, telling.calendar(clock.now()))
  const resumed = await store.write(async (write) => {
    if (allowance.ifMostIs !== undefined && mostNow(telling.look(), cap, allowance) !== allowance.ifMostIs)
      return undefined
    addGrant(write, cap, { ...given, by })
    return takeStopped(write, cap, write.now - resumeMs).filter((runId) => resume(write, runId)).length
  })
  const now = capState(telling.look(), cap)
  if (resumed === undefined) return { cap: now, resumed: 0, isChanged: true }
  free(state)
  log.info({ cap: capId(cap), by, ...allowance, resumed }, "cap raised")
  return { cap: now, resumed }
}

/** Of the unit that is to be raised. */
function mostNow(look: Look, cap: Cap, { tokens: moreTokens }: CapAllowance): number | undefined {
  const { dollars, tokens } = capState(look, cap)
  const amount = moreTokens === undefined ? (dollars ?? tokens) : tokens
  return amount ? mostOf(amount) : undefined
}

function isLifted(store: Store, cap: CapPlace, now: number): boolean {
  return (grantOf(store, cap).liftedUntil ?? 0) > now
}

function roomOf(store: Store, write: Write, cap: Cap, holds: ReturnType<typeof openHolds>, calendar: Calendar) {
  const grant = grantOf(store, cap)
  const same = ({ scope, key, since }: CapPlace) => scope === cap.scope && key === cap.key && since === cap.since
  const own = holds.filter((hold) => placesOf(factsOf(hold), calendar).some(same))
  return {
    limits: {
      tokens: cap.limits.tokens === undefined ? undefined : cap.limits.tokens + grant.tokens,
      nanoDollars: cap.limits.nanoDollars === undefined ? undefined : cap.limits.nanoDollars + grant.nanoDollars,
    },
    spent: totalOf(store, write, cap),
    held: {
      tokens: own.reduce((sum, hold) => sum + hold.tokens, 0),
      nanoDollars: own.reduce((sum, hold) => sum + hold.nano_dollars, 0),
    },
  }
}

function refusal(
  state: CapState,
  plan: PlannedCall,
  told: { toldAt: string | undefined; wasLifted: () => boolean },
): BudgetExceeded {
  const price = plan.pricedBy === "model" ? "" : priceUnknown(plan)
  const { unit, amount } = enoughMore(state, neededBy(plan))
  return new BudgetExceeded(`${describeReached(state, neededBy(plan))}${price}`, {
    ...told,
    hint: `Allow more with: svc usage allow ${state.id} --${unit} ${amount}; or --until-tomorrow. The caps are budget.* of the configuration`,
  })
}

function priceUnknown({ model, pricedBy }: PlannedCall): string {
  const whose = pricedBy === "provider" ? "its provider's dearest" : "the dearest of all"
  return `; the price of ${model} is not known, so it counts as ${whose}`
}

function readAllowance(cap: Cap, { dollars, tokens, untilTomorrow }: CapAllowance, { day }: Calendar) {
  if (dollars === undefined && tokens === undefined && !untilTomorrow) {
    throw new AppError("bad-request", "Say how much: dollars, tokens, or until tomorrow")
  }
  if (dollars !== undefined && cap.limits.nanoDollars === undefined) {
    throw new AppError("bad-request", `${describeCap(cap)} is in tokens, not in dollars`)
  }
  if (tokens !== undefined && cap.limits.tokens === undefined) {
    throw new AppError("bad-request", `${describeCap(cap)} is in dollars, not in tokens`)
  }
  return {
    nanoDollars: Math.round((dollars ?? 0) * 1e9),
    tokens: tokens ?? 0,
    liftedUntil: untilTomorrow ? day.until : null,
  }
}
