// `/config`: the configuration. Whoever has standing changes it, in any chat; only owners read it, in private chats. Keys
// that guard the door cannot be changed from a chat, and what speaks or reaches for the owner only by owners.
import { AppError } from "../../../kernel/index.ts"
import type { ChatCommand, CommandAnswer, CommandCall, CommandServices, ConfigChangeReport } from "../contract.ts"

const usage = "show [key] | get <key> | set <key>=<value> | unset <key>"

export const config: ChatCommand = {
  name: "config",
  summary: "Shows and changes the configuration",
  usage,
  access: "authorised",
  tellsRefused: true,
  switchedBy: "config",
  takesLines: true,
  time: (args) => (/^(?:un)?set\b/i.test(args) ? "in-turn" : "now"),
  run(call, services) {
    if (!call.sender.isAuthorised) {
      return { text: "You may not use /config: it is for people of `allowFrom` and people let in by pairing." }
    }
    if (!services.isOn("config")) {
      return { text: "`/config` is switched off. Set `commands.config` to true in the configuration file." }
    }
    const [verb = "", rest = ""] = splitOnce(call.args, /\s+/)
    return perform(verb.toLowerCase(), rest, call, services)
  },
}

function perform(verb: string, rest: string, call: CommandCall, services: CommandServices): CommandAnswer {
  switch (verb) {
    case "":
    case "show":
      return readable(call) ?? shown(services.config.show(rest === "" ? undefined : rest))
    case "get":
      return readable(call) ?? shown(services.config.show(required(rest, "get <key>")))
    case "set": {
      const { key, value } = readAssignment(required(rest, "set <key>=<value>"))
      return report(services.config.set(call, key, value), "set")
    }
    case "unset":
      return report(services.config.unset(call, required(rest, "unset <key>")), "removed")
    default:
      throw new AppError("bad-request", `/config cannot ${verb.slice(0, 40)}`, { hint: `/config ${usage}` })
  }
}

/** What is said instead where it would be read by others than owners. */
function readable({ sender, route }: CommandCall): CommandAnswer | undefined {
  if (sender.origin !== "owner") return { text: "Only owners may read the configuration." }
  return route.chatKind === "private" ? undefined : { text: "I show the configuration only in private chats." }
}

function required(rest: string, form: string): string {
  if (rest !== "") return rest
  throw new AppError("bad-request", "The key is missing", { hint: `/config ${form}` })
}

/** `key=value` or `key value`; what stands in quotes belongs to the key. */
export function readAssignment(text: string): { key: string; value: string } {
  const end = endOfKey(text)
  const key = text.slice(0, end)
  const value = text.slice(end).replace(/^\s*=?\s*/, "")
  if (key !== "" && value !== "") return { key, value }
  throw new AppError("bad-request", "The value is missing", { hint: "/config set <key>=<value>" })
}

function endOfKey(text: string): number {
  let quote = ""
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    if (quote !== "") {
      if (character === "\\") at += 1
      else if (character === quote) quote = ""
    } else if (character === '"' || character === "'") quote = character
    else if (character === "=" || /\s/.test(character)) return at
  }
  return text.length
}

/** Of one message; what is longer is cut, and a key shows its part. */
const maxShown = 3_500

function shown(text: string): CommandAnswer {
  const isLong = text.length > maxShown
  const body = isLong ? text.slice(0, maxShown) : text
  return { text: `\`\`\`json\n${body}\n\`\`\`${isLong ? "\nCut here; name a key to see its part." : ""}` }
}

const effects: Record<ConfigChangeReport["effect"], string> = {
  now: "It is in effect.",
  "after-restart": "It takes effect when the gateway is started anew.",
  restarting: "The gateway restarts now to use it.",
}

function report({ key, isChanged, effect }: ConfigChangeReport, done: string): CommandAnswer {
  return { text: isChanged ? `\`${key}\` ${done}. ${effects[effect]}` : `\`${key}\`: nothing to change.` }
}

function splitOnce(text: string, at: RegExp): string[] {
  const match = at.exec(text)
  return match ? [text.slice(0, match.index), text.slice(match.index + match[0].length)] : [text]
}
