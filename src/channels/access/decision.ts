// A decision as data, and how one is come to: rules in order, of which the first that has an opinion decides. The same
// list answers messages and explains itself to the operator.
import { AppError } from "../../kernel/index.ts"
import type { Origin } from "../../sessions/route.ts"

export type AccessDecision =
  | { kind: "accept"; rule: AcceptRule; origin: Origin; trusted: boolean }
  /** Unknown, and may ask to be let in. */
  | { kind: "pair"; rule: "pairing" }
  | { kind: "drop"; rule: DropRule }

/** `group-open`: the group's policy lets everybody in. */
export type AcceptRule = "listed-id" | "listed-name" | "paired" | "everybody" | "group-open"

export type DropRule =
  | "bot"
  | "service-account"
  // Direct messages.
  | "disabled"
  | "not-listed"
  // Groups.
  | "group-policy-disabled"
  | "group-not-listed"
  | "channel-not-listed"
  | "group-disabled"
  | "topic-disabled"
  | "sender-not-listed"

export interface AccessRule<Question> {
  name: string
  /** Undefined: it has no opinion, the next one is asked. */
  judge: (question: Question) => AccessDecision | undefined
}

export interface AccessStep {
  rule: string
  /** What the rule said; `passed` when it left the decision to the next. */
  outcome: "passed" | AccessDecision["kind"]
}

/** The last rule of a list must decide. */
export function firstDecision<Question>(rules: readonly AccessRule<Question>[], question: Question): AccessDecision {
  for (const rule of rules) {
    const decision = rule.judge(question)
    if (decision) return decision
  }
  throw new AppError("internal", "No rule of access decided")
}

export function traceDecision<Question>(
  rules: readonly AccessRule<Question>[],
  question: Question,
): { decision: AccessDecision; steps: AccessStep[] } {
  const steps: AccessStep[] = []
  for (const { name, judge } of rules) {
    const decision = judge(question)
    steps.push({ rule: name, outcome: decision?.kind ?? "passed" })
    if (decision) return { decision, steps }
  }
  throw new AppError("internal", "No rule of access decided")
}

export function drop(rule: DropRule): AccessDecision {
  return { kind: "drop", rule }
}
