// The chat of the page, with what it needs of the rest: the agents, where their main conversation was last heard from, the
// outbox, the page's event stream.
import { join } from "node:path"
import { liveTimeText } from "../agent/index.ts"
import { createWebChannel, draftTopic } from "../channels/index.ts"
import type { PageFeed } from "../gateway/index.ts"
import { normalizeAgentId } from "../sessions/index.ts"
import type { AgentParts } from "./agent.ts"
import type { Core } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

export function composeWebChat(core: Core, agent: AgentParts, feed: Pick<PageFeed, "publish">) {
  const { config } = core
  const agentIds = () => [
    ...new Set([mainAgentId(config()), ...config().agents.list.map(({ id }) => normalizeAgentId(id))]),
  ]
  return createWebChannel({
    ...core,
    mediaRoot: join(core.environment.stateFolder, "media"),
    agentIds,
    defaultAgentId: () => mainAgentId(config()),
    isAgent: (id) => agentIds().includes(id),
    isModel: agent.isModel,
    lastRoute: (key) => agent.sessions.lastRoute(key),
    rememberRoute: agent.sessions.rememberRoute,
    timeText: liveTimeText(() => config().agents.defaults),
    waitForDeliveries: (deliveries, limits) => agent.worker.waitFor(deliveries, limits),
    publish: (draft) => feed.publish(draftTopic, draft),
  })
}
