// A target as a person writes it -> a route: `123`, `-100123`, `@name`, `https://t.me/name`, `123:topic:4`.
import { AppError } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { stripPrefixes } from "../../access.ts"
import { channelName, idPrefixes } from "../settings.ts"

const namePattern = /^[A-Za-z][A-Za-z0-9_]{3,31}$/
const linkPattern = /^(?:https?:\/\/)?t\.me\//i

export function resolveTarget(target: string, account: string): Route {
  const plain = stripPrefixes(target.trim(), idPrefixes)
  const [, place = "", threadId] = /^(.*?)(?::topic)?(?::(\d+))?$/.exec(plain) ?? []
  const chatId = chatIdOf(place)
  if (chatId === undefined) {
    throw new AppError("target-invalid", `Not a chat: ${JSON.stringify(target)}`, {
      hint: "Give a chat id (123, -100123), an @name, or <chat id>:topic:<thread id>",
    })
  }
  return {
    channel: channelName,
    account,
    chatId,
    chatKind: kindOf(chatId),
    ...(threadId === undefined ? {} : { threadId }),
  }
}

function chatIdOf(place: string): string | undefined {
  if (/^-?[1-9]\d{0,15}$/.test(place)) return place
  const name = place.replace(linkPattern, "").replace(/^@/, "").replace(/\/$/, "")
  return namePattern.test(name) ? `@${name}` : undefined
}

/** The platform's ids tell: people are positive, supergroups and channels begin with -100, basic groups are the rest. */
function kindOf(chatId: string): Route["chatKind"] {
  if (chatId.startsWith("@")) return "channel"
  if (!chatId.startsWith("-")) return "private"
  return chatId.startsWith("-100") && chatId.length > 12 ? "supergroup" : "group"
}
