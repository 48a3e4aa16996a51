// Schedules with what they need of the rest: agents, models, routes, the chat of an owner.
import type { ToolSources } from "../agent/offered-tools.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import { type Schedules, createSchedules, scheduleTool } from "../schedules/index.ts"
import type { AgentParts } from "./agent.ts"
import { type Core, userTimeZone } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"
import { type OwnersChatParts, ownersChat } from "./owners-chat.ts"

export type SchedulePart = Schedules & Pick<ToolSources, "tools">

export function composeSchedules(core: Core, agent: AgentParts, channels: OwnersChatParts["channels"]): SchedulePart {
  const { store, clock, ids, background } = core
  const log = core.log.child({ part: "schedules" })
  const timeZone = () => userTimeZone(core.config())
  const schedules = createSchedules({
    store,
    clock,
    ids,
    log,
    background,
    config: () => core.config().cron,
    timeZone,
    agent: (id) => agentNamed(core, id),
    checkModel: (model, agentId) => void agent.models.describe({ agentId, model, byOperator: true }),
    resolveRoute: (agentId, target) => agent.delivery.resolve(agentId, target),
    findTarget: async (route, signal) => (await channels().get(route.channel)?.findTarget(route, signal)) ?? route,
    paused: () => agent.pause.state() !== undefined,
    tell(write, agentId, text) {
      const route = ownersChat({ sessions: agent.sessions, channels }, agentId)
      const sender = route && channels().get(route.channel)?.sender
      if (!route || !sender) return false
      const rows = sender.plan(route, { text, media: [], noPreview: true })
      for (const row of rows) write.addOutbox(row)
      return rows.length > 0
    },
  })
  // What came while the disk took nothing is due.
  core.kept.onRecovered(() => background.run("look at schedules", () => schedules.look()))
  return { ...schedules, tools: (place) => scheduleTool(schedules, place, timeZone) }
}

function agentNamed(core: Core, id: string | undefined): string {
  const agents = core.config().agents.list.map((each) => each.id)
  const main = mainAgentId(core.config())
  const wanted = id?.trim().toLowerCase() ?? main
  if (wanted === main || agents.includes(wanted)) return wanted
  throw new AppError("not-found", `There is no agent ${JSON.stringify(wanted)}`, {
    hint: `There are: ${agents.join(", ") || main}`,
  })
}

export function scheduleActions(schedules: Schedules): GatewayActions["schedules"] {
  return {
    list: (query) => ({ schedules: schedules.list(query) }),
    read: (id) => schedules.read(id),
    add: (wish, key) => schedules.add(wish, { source: "cli", by: "gateway", origin: "owner", trusted: true }, key),
    run: (id, key) => schedules.run(id, key),
    pause: (id) => schedules.pause(id),
    resume: (id) => schedules.resume(id),
    remove: (id) => schedules.remove(id),
  }
}
