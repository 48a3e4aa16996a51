// The bot's own account: getMe, logOut, close, and the settings that are only kept and given back.
import { tooManyRequests } from "../errors.ts"
import type { MethodCall, MethodTable } from "./method.ts"

/** A bot may not be closed in the first minutes of its life on a server. */
const closeAllowedAfterMs = 10 * 60 * 1000

export const accountMethods: MethodTable = {
  getMe: ({ bot }) => bot.user,
  logOut: ({ bot }) => {
    bot.loggedOut = true
    bot.webhook.stop()
    return true
  },
  close: ({ bot, world }) => {
    const remainingMs = bot.startedAt + closeAllowedAfterMs - world.clock.now()
    if (remainingMs > 0) throw tooManyRequests(remainingMs / 1000)
    return true
  },
  setMyName: keep("name"),
  getMyName: give("name"),
  setMyDescription: keep("description"),
  getMyDescription: give("description"),
  setMyShortDescription: keep("short_description"),
  getMyShortDescription: give("short_description"),
}

function keep(field: string) {
  return ({ bot, arguments: source }: MethodCall) => {
    bot.settings.set(`${field}:${source.text("language_code")}`, source.text(field))
    return true
  }
}

function give(field: string) {
  return ({ bot, arguments: source }: MethodCall) => {
    const own = bot.settings.get(`${field}:${source.text("language_code")}`)
    return { [field]: own ?? bot.settings.get(`${field}:`) ?? (field === "name" ? bot.user.first_name : "") }
  }
}
