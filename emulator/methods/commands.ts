// The command menu: setMyCommands, getMyCommands, deleteMyCommands.
import type { BotCommand } from "grammy/types"
import { badRequest } from "../errors.ts"
import { parseJson, type Arguments } from "../wire/arguments.ts"
import { characters } from "./send-text.ts"
import type { MethodTable } from "./method.ts"

const scopes = new Set([
  "default",
  "all_private_chats",
  "all_group_chats",
  "all_chat_administrators",
  "chat",
  "chat_administrators",
  "chat_member",
])

export const commandMethods: MethodTable = {
  setMyCommands: ({ bot, arguments: source }) => {
    const key = menuKey(source)
    bot.commands.set(key, readCommands(source.text("commands")))
    return true
  },
  getMyCommands: ({ bot, arguments: source }) => bot.commands.get(menuKey(source)) ?? [],
  deleteMyCommands: ({ bot, arguments: source }) => {
    bot.commands.delete(menuKey(source))
    return true
  },
}

export function menuKey(source: Arguments): string {
  const json = source.text("scope")
  const scope =
    json === "" ? { type: "default" } : parseJson(json, () => badRequest("Can't parse BotCommandScope JSON object"))
  if (typeof scope !== "object" || scope === null) throw badRequest("BotCommandScope must be an Object")
  const { type, chat_id: chatId, user_id: userId } = scope as Record<string, unknown>
  if (typeof type !== "string" || !scopes.has(type)) throw badRequest("Unsupported type specified")
  return [type, chatId ?? "", userId ?? "", source.text("language_code")].map(String).join(":")
}

/** A missing list empties the menu, and succeeds. */
function readCommands(json: string): BotCommand[] {
  if (json === "") return []
  const value = parseJson(json, () => badRequest("Can't parse commands JSON object"))
  if (!Array.isArray(value)) throw badRequest("Expected an Array of BotCommand")
  if (value.length > 100) throw badRequest("BOT_COMMANDS_TOO_MUCH")
  return value.map(readCommand)
}

function readCommand(value: unknown): BotCommand {
  if (typeof value !== "object" || value === null) throw badRequest("Can't parse BotCommand: expected an Object")
  const { command, description } = value as Record<string, unknown>
  if (typeof command !== "string") throw badRequest("Can't parse BotCommand: Can't find field \"command\"")
  if (typeof description !== "string") throw badRequest("Can't parse BotCommand: Can't find field \"description\"")
  const name = command.trim().replace(/^\//, "")
  const about = description.trim()
  if (name === "") throw badRequest("Command must be non-empty")
  if (characters(name) > 32) throw badRequest("Command length must not exceed 32")
  if (about === "") throw badRequest("Command description must be non-empty")
  if (characters(about) > 256) throw badRequest("Command description length must not exceed 256")
  if (!/^[a-z0-9_]+$/.test(name)) throw badRequest("BOT_COMMAND_INVALID")
  return { command: name, description: about }
}
