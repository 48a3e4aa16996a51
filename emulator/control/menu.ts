// Which command menu a person is shown: the first of the lists that was set, from the narrowest scope to the widest, each
// in the person's language before the one for all (https://core.telegram.org/bots/api#botcommandscope, "Determining list
// of commands").
import type { BotCommand } from "grammy/types"
import type { World } from "../world/world.ts"
import { findBot, findRoom, findUser } from "./people.ts"
import type { ParsedRequests } from "./requests.ts"

export function shownMenu(world: World, { userId, chatId = userId, botId }: ParsedRequests["menu"]): BotCommand[] {
  const bot = findBot(world, botId)
  const user = findUser(world, userId)
  const room = findRoom(world, chatId, bot.id)
  const isPrivate = room.kind() === "private"
  const isAdministrator = room.isAdministrator(userId)
  const scopes = [
    ...(isPrivate ? [] : [`chat_member:${chatId}:${userId}`]),
    ...(isAdministrator ? [`chat_administrators:${chatId}:`] : []),
    `chat:${chatId}:`,
    ...(isAdministrator ? ["all_chat_administrators::"] : []),
    isPrivate ? "all_private_chats::" : "all_group_chats::",
    "default::",
  ]
  for (const scope of scopes) {
    const menu = bot.commands.get(`${scope}:${user.language_code ?? ""}`) ?? bot.commands.get(`${scope}:`)
    if (menu) return menu
  }
  return []
}
