// Posts the answers of hook runs to where their requests asked for them.
import { createCallbackSender } from "../hooks/index.ts"
import type { Core } from "./core.ts"

export function callbackSender(core: Core) {
  return createCallbackSender({ config: () => core.config().hooks, clock: core.clock })
}
