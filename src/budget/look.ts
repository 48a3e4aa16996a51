// How the caps stand, for people: each with what is spent, held and allowed.
import { AppError } from "../kernel/index.ts"
import type { Spent } from "../models/contract.ts"
import type { Store } from "../store/index.ts"
import { type Calendar, type Cap, type CapPlace, capId, limitsOf, nano, placesOf } from "./caps.ts"
import type { BudgetConfig } from "./config.ts"
import { type CapAmount, type CapScope, type CapState, capScopes } from "./contract.ts"
import { factsOf, grantOf, keysOf, openHolds, peekTotal, wasTold } from "./totals.ts"

export interface Look {
  store: Store
  calendar: Calendar
  config: BudgetConfig
  now: number
}

/** Of the conversations, and of the runs of the last day. */
const mostListed = 20
/** The share from which a list names the cap of a run. */
const listedFrom = 0.5
const dayMs = 24 * 60 * 60 * 1000

export function capState(look: Look, cap: CapPlace & Partial<Pick<Cap, "limits">>): CapState {
  const { store, calendar, config, now } = look
  const limits = limitsOf(cap, config) ?? { tokens: undefined, nanoDollars: undefined }
  const spent = peekTotal(store, cap)
  const same = ({ scope, key, since }: CapPlace) => scope === cap.scope && key === cap.key && since === cap.since
  const holds = openHolds(store).filter((hold) => placesOf(factsOf(hold), calendar).some(same))
  const held: Spent = {
    tokens: holds.reduce((sum, hold) => sum + hold.tokens, 0),
    nanoDollars: holds.reduce((sum, hold) => sum + hold.nano_dollars, 0),
  }
  const grant = grantOf(store, cap)
  const amount = (limit: number | undefined, unit: keyof Spent, per: number): CapAmount | null =>
    limit === undefined
      ? null
      : { limit: limit / per, allowed: grant[unit] / per, spent: spent[unit] / per, held: held[unit] / per }
  const dollars = amount(limits.nanoDollars, "nanoDollars", nano)
  const tokens = amount(limits.tokens, "tokens", 1)
  const share = Math.max(...[dollars, tokens].map(shareOf))
  // Also while there is room left that no call fits into: an owner has been told so.
  const isReached = share >= 1 || wasTold(store, cap, 100, limitText({ dollars, tokens }))
  const isLifted = (grant.liftedUntil ?? 0) > now
  const state = isLifted ? "lifted" : isReached ? "reached" : "open"
  return {
    id: capId(cap),
    scope: cap.scope,
    key: cap.key,
    since: cap.since,
    until: cap.until,
    dollars,
    tokens,
    share,
    nearest: nearnessOf(tokens) > nearnessOf(dollars) ? "tokens" : "dollars",
    isListed: cap.scope !== "job" || state !== "open" || share >= listedFrom,
    state,
    liftedUntil: isLifted ? grant.liftedUntil : null,
  }
}

/** A limit that was raised is another one, of which an owner is told anew. */
export function limitText({ dollars, tokens }: Pick<CapState, "dollars" | "tokens">): string {
  const of = (amount: CapAmount | null) => (amount ? `${amount.limit + amount.allowed}` : "-")
  return `${of(dollars)} ${of(tokens)}`
}

function shareOf(amount: CapAmount | null): number {
  if (!amount) return 0
  const most = amount.limit + amount.allowed
  return most <= 0 ? 1 : amount.spent / most
}

/** -1 where there is none. With what is held: that is what leaves no room for another call. */
function nearnessOf(amount: CapAmount | null): number {
  return amount ? (amount.spent + amount.held) / Math.max(amount.limit + amount.allowed, Number.EPSILON) : -1
}

export function listCaps(look: Look, scopes: readonly CapScope[] = capScopes): CapState[] {
  return scopes.flatMap((scope) =>
    keysFor(look, scope)
      .map((key) => placeOf(look, scope, key))
      .filter((place) => limitsOf(place, look.config) !== undefined)
      .map((place) => capState(look, place)),
  )
}

function keysFor({ store, calendar, config, now }: Look, scope: CapScope): string[] {
  if (scope === "agent") {
    return [...new Set([...Object.keys(config.agents), ...keysOf(store, scope, calendar.day.since, mostListed)])]
  }
  if (scope === "session") return keysOf(store, scope, calendar.day.since, mostListed)
  if (scope === "job") return keysOf(store, scope, now - dayMs, mostListed)
  return [""]
}

function placeOf({ calendar }: Look, scope: CapScope, key: string): CapPlace {
  if (scope === "job") return { scope, key, since: 0, until: null }
  return { scope, key, ...(scope === "month" ? calendar.month : calendar.day) }
}

/** `day`, `agent:main`. Throws `not-found`. */
export function findCap(look: Look, id: string): Cap {
  const [name = "", ...rest] = id.trim().split(":")
  const scope = capScopes.find((each) => each === name.toLowerCase())
  const key = rest.join(":")
  const isKeyed = scope === "agent" || scope === "session" || scope === "job"
  if (scope !== undefined && isKeyed === (key !== "")) {
    const place = placeOf(look, scope, key)
    const limits = limitsOf(place, look.config)
    if (limits) return { ...place, limits }
  }
  const known = listCaps(look).map((cap) => cap.id)
  throw new AppError("not-found", `There is no cap ${JSON.stringify(id.slice(0, 200))}`, {
    hint:
      known.length > 0 ? `There are: ${known.join(", ")}` : "None is set. Set one: svc config set budget.day.dollars 5",
  })
}
