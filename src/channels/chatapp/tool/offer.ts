// The chat tools that a turn is offered: none where it can reach no chat, or where its account is off; else both, with
// the actions that are switched on for the account. Only configuration and the turn's place decide, so that the list is
// the same in all steps of a turn.
import type { Tool, ToolPlace } from "../../../agent/tool.ts"
import { defaultAccountId } from "../../../config/index.ts"
import { type AccountSettings, channelName, type Settings, mainAccount } from "../settings.ts"
import { createChatappTool } from "./chatapp.ts"
import { createMessageTool } from "./message.ts"
import type { Operations } from "./operations.ts"
import { isOwnersTurn } from "../../shared/tool/reach.ts"

export interface OfferOptions {
  operations: Operations
  settings: Settings
  /** The environment has a token for the default account. */
  hasEnvironmentToken: boolean
}

export function offerTools(options: OfferOptions, place: ToolPlace): readonly Tool[] {
  const { operations, settings } = options
  const { route } = place
  // Without a chat of its own only an owner's turn may name one.
  if (route === null ? !isOwnersTurn(place) : route.channel !== channelName) return []
  const account = settings.account(route?.account ?? mainAccount(settings.accounts()))
  if (!isInUse(account, options)) return []
  const tools = [createMessageTool(operations, account), createChatappTool(operations, account)]
  return tools.filter((tool) => tool !== undefined) as readonly Tool[]
}

function isInUse({ enabled, accountId, botToken, tokenFile }: AccountSettings, options: OfferOptions): boolean {
  const fromEnvironment = options.hasEnvironmentToken && accountId === defaultAccountId
  return enabled && (botToken !== undefined || tokenFile !== undefined || fromEnvironment)
}
