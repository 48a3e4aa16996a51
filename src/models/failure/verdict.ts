// What a provider's answer means: its codes first, then its words, then its status. The order matters: a filter may
// answer 400, an empty account 429, and a model that is not there 500.
import type { FailureKind } from "./contract.ts"
import { saysTooLong, withoutQuotations } from "./context-words.ts"
import type { ProviderAnswer } from "./evidence.ts"
import * as rules from "./rules.ts"
import { hasCode, matches } from "./rules.ts"

/** Finer than the kind where people are told different things. */
export type Because =
  | "limit"
  | "day"
  | "loading"
  | "permission"
  | "region"
  | "page"
  | "memory"
  | "router-policy"
  | "reply-tokens"
  | "minute"

export interface Verdict {
  kind: FailureKind
  because?: Because
}

export function judge(answer: ProviderAnswer): Verdict {
  const { status, cause } = answer
  const words = withoutQuotations(cause.words)
  const facts: Facts = { status, codes: cause.codes, words, isPage: cause.isPage, raw: cause.words }
  for (const rule of order) {
    const verdict = rule(facts)
    if (verdict) return verdict
  }
  return { kind: "refused" }
}

interface Facts {
  status: number | undefined
  codes: readonly string[]
  /** Without longer quotations. */
  words: string
  raw: string
  isPage: boolean
}

const order: readonly ((facts: Facts) => Verdict | undefined)[] = [
  judgeContent,
  judgeLength,
  judgePage,
  judgeCredit,
  judgeKey,
  judgeModel,
  judgeBusy,
  judgeForm,
]

function judgeContent({ status, codes, words }: Facts): Verdict | undefined {
  if (hasCode(rules.declined.codes, codes)) return { kind: "declined" }
  const mayDecline = status === undefined || status === 400 || status === 403 || status === 422
  return mayDecline && rules.declined.says.test(words) ? { kind: "declined" } : undefined
}

/** Where an error about length may stand: never where the key or the account is the matter. */
const notAboutLength = new Set([401, 402, 403, 404, 408])

function judgeLength({ status, codes, words, raw, isPage }: Facts): Verdict | undefined {
  if (status !== undefined && notAboutLength.has(status)) return undefined
  const isTooLong =
    hasCode(rules.contextCodes, codes) ||
    (status === 413 && !rules.routerPolicy.test(words)) ||
    (!isPage && saysTooLong(raw))
  if (!isTooLong) return undefined
  return /request too large.{0,200}per min/i.test(words) ? { kind: "context", because: "minute" } : { kind: "context" }
}

/** A page is a proxy's or a firewall's; with a status below 500 nothing of the provider has seen the request. */
function judgePage({ status, isPage }: Facts): Verdict | undefined {
  if (!isPage || status === undefined || status === 401 || status >= 500 || isWaiting(status)) return undefined
  return status === 404 ? { kind: "unknown-model", because: "page" } : { kind: "refused", because: "page" }
}

function judgeCredit({ status, codes, words }: Facts): Verdict | undefined {
  if (status === 402) return { kind: "credit" }
  if (hasCode(rules.credit.codes, codes)) return { kind: "credit" }
  // Google says "check your plan and billing details" for the limit of a minute too.
  if (codes.includes("resource_exhausted")) return undefined
  return rules.credit.says.test(words) ? { kind: "credit" } : undefined
}

function judgeKey({ status, codes, words }: Facts): Verdict | undefined {
  if (matches(rules.region, codes, words)) return { kind: "refused", because: "region" }
  if (status === 401) return { kind: "key" }
  if (status !== undefined && status >= 500) return undefined
  if (matches(rules.key, codes, words)) return { kind: "key" }
  if (status === 403 || hasCode(rules.permission.codes, codes)) return { kind: "key", because: "permission" }
  if (status === 400 && rules.permission.says.test(words)) return { kind: "key", because: "permission" }
  return undefined
}

function judgeModel({ status, codes, words }: Facts): Verdict | undefined {
  if (status === 429) return undefined
  if (matches(rules.staleForm, codes, words)) return { kind: "form" }
  if (rules.routerPolicy.test(words)) return { kind: "refused", because: "router-policy" }
  if (status === 404) return { kind: "unknown-model" }
  return matches(rules.unknownModel, codes, words) ? { kind: "unknown-model" } : undefined
}

/** 408, 409, 425, 429; 424 (Bedrock: the model failed), 498 (Groq: capacity), 499 (the provider's own client left). */
function isWaiting(status: number): boolean {
  return [408, 409, 424, 425, 429, 498, 499].includes(status)
}

function judgeBusy({ status, codes, words }: Facts): Verdict | undefined {
  const isLimited = status === 429 || hasCode(rules.throttled, codes)
  if (isLimited) {
    const isOfDay = rules.daily.test(words) || codes.some((code) => rules.daily.test(code))
    return { kind: "busy", because: isOfDay ? "day" : "limit" }
  }
  if (status !== undefined && isWaiting(status)) return { kind: "busy" }
  if (status !== undefined && status >= 500) return judgeServerError(status, codes, words)
  if (status !== undefined) return undefined
  // Inside a reply there is no status: what the error calls itself decides, its words only when it names nothing.
  if (hasCode(rules.busy.codes, codes)) return { kind: "busy" }
  if (hasCode(rules.form.codes, codes)) return undefined
  return rules.busy.says.test(words) ? { kind: "busy" } : undefined
}

function judgeServerError(status: number, codes: readonly string[], words: string): Verdict {
  if (status === 501 || status === 505) return { kind: "refused" }
  if (rules.needsMemory.test(words)) return { kind: "refused", because: "memory" }
  if (rules.loading.test(words)) return { kind: "busy", because: "loading" }
  const isOfServer = hasCode(rules.busy.codes, codes) && !rules.form.says.test(words)
  return !isOfServer && matches(rules.form, codes, words) ? { kind: "form" } : { kind: "busy" }
}

function judgeForm({ status, codes, words }: Facts): Verdict | undefined {
  const isForm = status === 400 || status === 422 || (status === undefined && matches(rules.form, codes, words))
  if (!isForm) return undefined
  return rules.tokensOfReply.test(words) ? { kind: "form", because: "reply-tokens" } : { kind: "form" }
}
