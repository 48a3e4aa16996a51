// What a call took is added to the sums, and an owner is told of caps that have come so far: each once. Inside transactions.
import type { Clock } from "../kernel/index.ts"
import type { PlannedCall, Spent } from "../models/contract.ts"
import type { Store, Write } from "../store/index.ts"
import { type Calendar, type Cap, calendarAt, capsOf, isTimer, leastOf, placesOf } from "./caps.ts"
import type { BudgetConfig } from "./config.ts"
import type { CapNotice, CapState } from "./contract.ts"
import { type Look, capState, limitText } from "./look.ts"
import { addNotice, addToTotals } from "./totals.ts"

export interface TellingOptions {
  store: Store
  clock: Clock
  config: () => BudgetConfig
  /** In which days and months begin. */
  timeZone: () => string
  /** Tells an owner, in the transaction under way; the chat, as `BudgetExceeded` has it. */
  tell: (write: Write, notice: CapNotice) => string | undefined
}

export interface Telling {
  calendar(at: number): Calendar
  look(): Look
  /** Adds to the sums, and warns. */
  count(write: Write, call: Caller, at: number, spent: Spent): void
  /** A cap leaves no room: the chat that was told just now. */
  reached(write: Write, at: { cap: Cap; state: CapState; call: Caller; plan?: PlannedCall }): string | undefined
}

type Caller = Pick<PlannedCall, "agentId" | "usedFor">

const warnings = [80, 50] as const

export function createTelling(options: TellingOptions): Telling {
  const { store, clock, config } = options
  const calendar = calendarCache(options)
  const look = (): Look => ({ store, calendar: calendar(clock.now()), config: config(), now: clock.now() })

  const reached: Telling["reached"] = (write, { cap, state, call, plan }) => {
    const { purpose } = call.usedFor
    const isOnlyTimers = isTimer(purpose) && cap.scope !== purpose && state.share < 1
    if (isOnlyTimers) {
      // People go on, so this is one of the warnings; which of the two comes first is the only one.
      if (addNotice(write, cap, 80, "")) options.tell(write, noticeOf(state, 80, call))
      return undefined
    }
    if (!addNotice(write, cap, 100, limitText(state))) return undefined
    const refused = plan ? { model: plan.model, isPriceUnknown: plan.pricedBy !== "model", needed: neededBy(plan) } : {}
    return options.tell(write, { ...noticeOf(state, 100, call), ...refused })
  }

  const warn = (write: Write, call: Caller, cap: Cap): void => {
    const state = capState(look(), cap)
    if (state.state === "lifted") return
    if (state.share >= 1) return void reached(write, { cap, state, call })
    const percent = warnings.find((each) => state.share * 100 >= each)
    if (percent === undefined) return
    const isNew = addNotice(write, cap, percent, "")
    // Whoever is told of 80 knows that it is more than half.
    if (percent === 80) addNotice(write, cap, 50, "")
    if (isNew) options.tell(write, noticeOf(state, percent, call))
  }

  return {
    calendar,
    look,
    reached,
    count(write, call, at, spent) {
      const times = calendar(at)
      addToTotals(write, placesOf(call, times), spent)
      for (const cap of capsOf(call, times, config())) if (cap.scope !== "job") warn(write, call, cap)
    },
  }
}

/** Days are found by asking for dates, which takes a while; they change once a day. */
function calendarCache({ timeZone }: TellingOptions): (at: number) => Calendar {
  let known: { zone: string; calendar: Calendar } | undefined
  return (at) => {
    const zone = timeZone()
    const isNow = known?.zone === zone && at >= known.calendar.day.since && at < known.calendar.day.until
    if (!known || !isNow) known = { zone, calendar: calendarAt(at, zone) }
    return known.calendar
  }
}

/** What must be free for a call to be made. */
export function neededBy(plan: PlannedCall): Required<CapNotice>["needed"] {
  const { tokens, nanoDollars } = leastOf(plan)
  return { tokens, dollars: nanoDollars / 1e9 }
}

function noticeOf(cap: CapState, percent: CapNotice["percent"], { agentId, usedFor }: Caller): CapNotice {
  const { sessionKey, runId, purpose } = usedFor
  return {
    cap,
    percent,
    agentId,
    purpose,
    ...(sessionKey === undefined ? {} : { sessionKey }),
    ...(runId === undefined ? {} : { runId }),
  }
}
