// Lists of people as the configuration has them, taken apart once. A listed @name counts by the id that it is pinned to,
// never by what a sender is called now.

export interface AllowList {
  /** `*` was listed. */
  everybody: boolean
  ids: ReadonlySet<string>
  /** Lower-case, without the `@`. */
  names: ReadonlySet<string>
}

/** Whoever speaks: a person, or the chat in whose name a message was written. */
export interface Sender {
  /** The platform's numeric id, as text. */
  id: string
  username?: string | undefined
  isBot?: boolean | undefined
  /** An account of the platform's own, which stands for nobody. No list can name it. */
  isService?: boolean | undefined
}

/** The listed @names that stand for this id, lower-case, without the `@`. See pins.ts. */
export type NamesOfId = (senderId: string) => readonly string[]

const everybodyEntry = "*"

export const emptyAllowList: AllowList = { everybody: false, ids: new Set(), names: new Set() }

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

/** How the list names the sender; the wildcard names nobody. */
export function listedAs(allow: AllowList, sender: Sender, namesOf: NamesOfId): "id" | "name" | undefined {
  if (allow.ids.has(sender.id)) return "id"
  return isListedByName(allow, sender.id, namesOf) ? "name" : undefined
}

/** By the id that the name is pinned to, whatever the sender is called now. */
export function isListedByName(allow: AllowList, senderId: string, namesOf: NamesOfId): boolean {
  return allow.names.size > 0 && namesOf(senderId).some((name) => allow.names.has(name))
}
