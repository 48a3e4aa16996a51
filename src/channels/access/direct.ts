// Who may write directly. Someone let in only because everybody is has no standing with the operator: the words are
// answered but not trusted. Another bot is never answered: two bots would talk for ever.
import { type AllowList, type NamesOfId, type Sender, isListedByName } from "./allow-list.ts"
import { type AccessDecision, type AccessRule, drop, firstDecision } from "./decision.ts"

export type DirectPolicy = "pairing" | "allowlist" | "open" | "disabled"

export interface DirectQuestion {
  policy: DirectPolicy
  allow: AllowList
  /** Ids of people that were let in by pairing. */
  paired: ReadonlySet<string>
  sender: Sender
  namesOf: NamesOfId
}

export const directRules: readonly AccessRule<DirectQuestion>[] = [
  { name: "policy", judge: ({ policy }) => (policy === "disabled" ? drop("disabled") : undefined) },
  {
    name: "sender-kind",
    judge({ sender }) {
      if (sender.isService) return drop("service-account")
      return sender.isBot ? drop("bot") : undefined
    },
  },
  {
    name: "listed-id",
    judge: ({ allow, sender }) =>
      allow.ids.has(sender.id) ? { kind: "accept", rule: "listed-id", origin: "owner", trusted: true } : undefined,
  },
  {
    name: "listed-name",
    judge: ({ allow, sender, namesOf }) =>
      isListedByName(allow, sender.id, namesOf)
        ? { kind: "accept", rule: "listed-name", origin: "approved-sender", trusted: true }
        : undefined,
  },
  {
    name: "paired",
    judge: ({ paired, sender }) =>
      paired.has(sender.id) ? { kind: "accept", rule: "paired", origin: "approved-sender", trusted: true } : undefined,
  },
  {
    name: "everybody",
    judge: ({ allow, policy }) =>
      allow.everybody || policy === "open"
        ? { kind: "accept", rule: "everybody", origin: "approved-sender", trusted: false }
        : undefined,
  },
  {
    name: "unknown",
    judge: ({ policy }) => (policy === "pairing" ? { kind: "pair", rule: "pairing" } : drop("not-listed")),
  },
]

export function decideDirect(
  policy: DirectPolicy,
  allow: AllowList,
  paired: ReadonlySet<string>,
  sender: Sender,
  namesOf: NamesOfId,
): AccessDecision {
  return firstDecision(directRules, { policy, allow, paired, sender, namesOf })
}
