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

/** `skills`: what the agent can be sent to do by name, as its owner has written it down. */
export function menusOf(settings: AccountSettings, skills: readonly MenuSkill[] = []): Menus {
  const custom = [...customEntries(settings).entries]
  custom.push(...skillEntries(settings, skills, new Set(custom.map(({ command }) => command))))
  const native = settings.commands.native === "off" ? [] : nativeCommands
  const usable = native.filter(
    (command) => !command.isUnlisted && (command.switchedBy === undefined || settings.commands[command.switchedBy]),
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

export interface MenuSkill {
  name: string
  description: string
}

/** Behind everything else: what has a name already keeps it. The platform knows no dashes in names. */
function skillEntries(settings: AccountSettings, skills: readonly MenuSkill[], taken: Set<string>): MenuEntry[] {
  const { native, nativeSkills } = settings.commands
  if (native === "off" || nativeSkills === "off") return []
  for (const { name, aliases } of nativeCommands) for (const each of [name, ...(aliases ?? [])]) taken.add(each)
  return skills.flatMap(({ name, description }) => {
    const command = name.replaceAll("-", "_")
    if (taken.has(command) || !/^[a-z0-9_]{1,32}$/.test(command)) return []
    taken.add(command)
    return [{ command, description: description.slice(0, 256) || command }]
  })
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
