// `svc agent`, with what it needs of the rest: the store, the agents, the lanes that run its turns.
import { join } from "node:path"
import { liveTimeText } from "../agent/index.ts"
import { createTerminal } from "../channels/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { normalizeAgentId } from "../sessions/index.ts"
import type { AgentParts } from "./agent.ts"
import type { Core } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

export function terminalActions(core: Core, agent: AgentParts): GatewayActions["terminal"] {
  const { store, ids, clock, config } = core
  const timeText = liveTimeText(() => config().agents.defaults)
  const defaultAgentId = () => mainAgentId(config())
  const options = {
    store,
    ids,
    mediaRoot: join(core.environment.stateFolder, "media"),
    defaultAgentId,
    isAgent: (id: string) =>
      id === defaultAgentId() || config().agents.list.some((entry) => normalizeAgentId(entry.id) === id),
    isModel: agent.isModel,
    maxPictureBytes: () => config().channels.chatapp.mediaMaxMb * 1024 * 1024,
    now: () => ({ ms: clock.now(), text: timeText(clock.now()) }),
    onJobStopped: (listener: (runId: string) => void) => agent.runner.onStopped(listener),
    stopTurn: agent.stopTurn,
    isPaused: () => agent.pause.state() !== undefined,
  }
  return createTerminal(options, agent.terminal)
}
