// What stands in the bot's menu: our commands and the operator's entries, by where they can be used.
import { nativeCommands } from "../../commands/index.ts"
import type { AccountSettings } from "../settings.ts"

export interface MenuEntry {
  command: string
  description: string
}

export interface Menus {
  /** Private chats, and everywhere that has no list of its own. */
  default: MenuEntry[]
  all_group_chats: MenuEntry[]
}

/** The platform's limit. */
const maxEntries = 100

export function menusOf(settings: AccountSettings): Menus {
  const custom = customEntries(settings).entries
  const native = settings.commands.native === "off" ? [] : nativeCommands
  const usable = native.filter(
    (command) => !command.isUnlisted && (command.name !== "config" || settings.commands.config),
  )
  const listed = (other: "private" | "group") =>
    [
      ...usable
        .filter((command) => command.where !== other)
        .map(({ name, summary }) => ({ command: name, description: summary })),
      ...custom,
    ].slice(0, maxEntries)
  return { default: listed("group"), all_group_chats: listed("private") }
}

/** Names are in their plain form already. Ours are never given away, also while they are not in the menu. */
export function customEntries({ customCommands }: Pick<AccountSettings, "customCommands">): {
  entries: MenuEntry[]
  problems: { command: string; problem: string }[]
} {
  const taken = new Set(nativeCommands.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]))
  const entries = new Map<string, MenuEntry>()
  const problems: { command: string; problem: string }[] = []
  for (const entry of customCommands) {
    const { command, description, problem } = entry
    if (problem !== undefined) problems.push({ command, problem })
    else if (!/^[a-z0-9_]{1,32}$/.test(command)) {
      problems.push({ command, problem: "its name must be 1 to 32 letters, digits and underscores" })
    } else if (description === "" || description.length > 256) {
      problems.push({ command, problem: "its description must have 1 to 256 characters" })
    } else if (taken.has(command)) problems.push({ command, problem: "a command of the gateway has this name" })
    else if (entries.has(command)) problems.push({ command, problem: "it is listed twice" })
    else entries.set(command, entry)
  }
  return { entries: [...entries.values()], problems }
}
