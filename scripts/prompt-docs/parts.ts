// Who and what there is in the world of the prompts.
import type { Config } from "../../src/config/index.ts"
import type { Clock, Ids, Log } from "../../src/kernel/index.ts"
import { type Route, mainKey } from "../../src/sessions/index.ts"
import type { Store } from "../../src/store/index.ts"

export const ownerId = 4242
export const agentId = "main"
export const mainSession = mainKey(agentId)
export const ownerChat: Route = {
  channel: "chatapp",
  account: "default",
  chatId: String(ownerId),
  chatKind: "private",
}

export interface WorldParts {
  folder: string
  log: Log
  clock: Clock
  ids: Ids
  store: Store
  config: () => Config
}
