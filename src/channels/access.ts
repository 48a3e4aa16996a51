// Who may write to the agent: a pure decision over plain data, one union with the name of the rule that decided.
// It never looks at names that a sender can choose: a listed @name counts by the id that it is pinned to.
import type { Origin } from "../sessions/route.ts"

export type DirectPolicy = "pairing" | "allowlist" | "open" | "disabled"

/** An allow list as configured, taken apart once. */
export interface AllowList {
  /** `*` was listed. */
  everybody: boolean
  ids: ReadonlySet<string>
  /** Lower-case, without the `@`. */
  names: ReadonlySet<string>
}

export interface Sender {
  /** The platform's numeric id, as text. */
  id: string
  username?: string | undefined
  isBot?: boolean | undefined
}

/** The id that a listed @name stands for; undefined while nobody has written under it. See pins.ts. */
export type IdOfName = (name: string) => string | undefined

export type AccessDecision =
  | { kind: "accept"; rule: "listed-id" | "listed-name" | "paired" | "everybody"; origin: Origin; trusted: boolean }
  /** Unknown, and may ask to be let in. */
  | { kind: "pair"; rule: "pairing" }
  | { kind: "drop"; rule: "disabled" | "not-listed" | "bot" }

const everybodyEntry = "*"

/** `prefixes` are the channel's own (`chatapp:`), which people paste along with an id. */
export function parseAllowList(entries: readonly string[], prefixes: readonly string[]): AllowList {
  const ids = new Set<string>()
  const names = new Set<string>()
  let everybody = false
  for (const entry of entries) {
    const plain = stripPrefixes(entry.trim(), prefixes)
    if (plain === everybodyEntry) everybody = true
    else if (/^-?\d+$/.test(plain)) ids.add(plain)
    else if (plain !== "") names.add(plain.replace(/^@/, "").toLowerCase())
  }
  return { everybody, ids, names }
}

export function stripPrefixes(text: string, prefixes: readonly string[]): string {
  let plain = text
  for (;;) {
    const lower = plain.toLowerCase()
    const prefix = prefixes.find((candidate) => lower.startsWith(candidate))
    if (prefix === undefined) return plain
    plain = plain.slice(prefix.length).trim()
  }
}

/**
 * A direct message. Someone let in only because everybody is has no standing with the operator: the words are
 * answered but not trusted. Another bot is never answered: two bots would talk for ever.
 */
export function decideDirect(
  policy: DirectPolicy,
  allow: AllowList,
  paired: ReadonlySet<string>,
  sender: Sender,
  idOfName: IdOfName,
): AccessDecision {
  if (policy === "disabled") return { kind: "drop", rule: "disabled" }
  if (sender.isBot) return { kind: "drop", rule: "bot" }
  if (allow.ids.has(sender.id)) return { kind: "accept", rule: "listed-id", origin: "owner", trusted: true }
  if (isListedByName(allow, sender.id, idOfName)) {
    return { kind: "accept", rule: "listed-name", origin: "approved-sender", trusted: true }
  }
  if (paired.has(sender.id)) return { kind: "accept", rule: "paired", origin: "approved-sender", trusted: true }
  if (allow.everybody || policy === "open") {
    return { kind: "accept", rule: "everybody", origin: "approved-sender", trusted: false }
  }
  return policy === "pairing" ? { kind: "pair", rule: "pairing" } : { kind: "drop", rule: "not-listed" }
}

/** By the id that the name is pinned to, whatever the sender is called now. */
export function isListedByName(allow: AllowList, senderId: string, idOfName: IdOfName): boolean {
  for (const name of allow.names) if (idOfName(name) === senderId) return true
  return false
}
