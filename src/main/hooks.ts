// The webhook endpoints with what they need of the rest: the store, routes and models of the agent, signatures.
import { dirname } from "node:path"
import { type Config, resolveHome } from "../config/index.ts"
import { type HookAudit, type HookGuests, type HookVerifyConfig, type Hooks, createHooks } from "../hooks/index.ts"
import { createVerifier } from "../hooks/verify/index.ts"
import { AppError, type Secret } from "../kernel/index.ts"
import { mainKey } from "../sessions/index.ts"
import type { AgentParts } from "./agent.ts"
import type { Core } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

export function composeHooks(
  core: Core,
  agent: AgentParts,
  links: { accepting: () => boolean; gatewayToken: Secret; guests: HookGuests; audit: HookAudit },
): Hooks {
  const agentId = () => mainAgentId(core.config())
  const log = core.log.child({ part: "hooks" })
  const verifier = createVerifier({ clock: core.clock, log })
  return createHooks({
    config: hooksSettings(core, links.gatewayToken),
    store: core.store,
    onJobStopped: (listener) => agent.runner.onStopped(listener),
    waitForDeliveries: (ids, limits) => agent.worker.waitFor(ids, limits),
    verify: (request, settings) => verifier.verifySignature(request, placedSettings(core, settings)),
    transformsFolder: () => transformsFolder(core),
    accepting: links.accepting,
    guests: links.guests,
    audit: links.audit,
    mainAgentId: agentId,
    mainSessionKey: () => mainKey(agentId()),
    async resolveRoute(wanted) {
      try {
        return { route: agent.delivery.resolve(agentId(), wanted) }
      } catch (error) {
        // Nobody to deliver to is no fault of the sender: the run happens and says so.
        if (error instanceof AppError && error.code === "no-route") return { route: null, problem: error.message }
        throw error
      }
    },
    checkModel: (model) => void agent.models.describe({ agentId: agentId(), model }),
    clock: core.clock,
    ids: core.ids,
    log,
    redactor: core.redactor,
    background: core.background,
  })
}

function transformsFolder(core: Core): string {
  return besideConfig(core, core.config().hooks.transformsDir ?? ".")
}

/** Where the gateway was started from says nothing about where its files are. */
function placedSettings(core: Core, settings: HookVerifyConfig): HookVerifyConfig {
  const { keySetFile } = settings
  return keySetFile === undefined ? settings : { ...settings, keySetFile: besideConfig(core, keySetFile) }
}

function besideConfig({ environment }: Core, path: string): string {
  return resolveHome(path, environment.home, dirname(environment.configPath))
}

/** A changed file may bring the gateway's generated token as the hooks' own, which no schema can know: then hooks are off. */
function hooksSettings(core: Core, gatewayToken: Secret): () => Config["hooks"] {
  let known: Config["hooks"] | undefined
  let inForce: Config["hooks"] | undefined
  return () => {
    const { hooks } = core.config()
    if (hooks !== known || inForce === undefined) {
      known = hooks
      const isReused = hooks.enabled && hooks.token !== undefined && gatewayToken.matches(hooks.token.trim())
      if (isReused) core.log.error({ key: "hooks.token" }, "webhooks are off: their token is the gateway's own")
      inForce = isReused ? { ...hooks, enabled: false } : hooks
    }
    return inForce
  }
}
