// What chat commands ask of this channel.
import type { ChannelCommands } from "../../contract.ts"
import { buttonsRefused } from "../outbound/buttons.ts"
import type { Settings } from "../settings.ts"
import { customEntries } from "./menu.ts"

export function createCommandPart(settings: Settings, onSessionChanged: () => void): ChannelCommands {
  return {
    custom: (account) => customEntries(settings.account(account)).entries,
    canShowButtons: (route) => buttonsRefused(settings.account(route.account), route.chatKind) === undefined,
    mayWriteConfig: (account) => settings.account(account).configWrites,
    maxFile: (account) => ({ megabytes: settings.account(account).mediaMaxMb, key: "channels.chatapp.mediaMaxMb" }),
    sessionChanged: onSessionChanged,
  }
}
