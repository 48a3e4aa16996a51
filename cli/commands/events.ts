// `svc events`: the system events that wait for a session's next turn, and those that were shown.
import type { Command } from "commander"
import type { EventSummary } from "../../src/gateway/api.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { olderOption, readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, addPageOptions, type GatewayOptions, type PageOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { describeTime } from "../time.ts"

export function addEvents(program: Command, context: CliContext): void {
  const events = program.command("events").description("List system events, newest first")
  addPageOptions(addGatewayOptions(events))
    .option("--session <key>", "only those of this session")
    .action(async (options: GatewayOptions & PageOptions & { session?: string }) => {
      const { limit, before, session } = options
      const query = { limit, before, session }
      const answer = await connectGateway(context, options).call("GET", "/api/events", { query })
      if (options.json) return context.output.json(answer)
      context.output.write(describeEvents(readItems(answer, "items")))
      const older = olderOption(answer)
      if (older !== undefined) context.output.note(`older ones: svc events ${older}`)
    })
  addExamples(events, "svc events --session agent:main:main --limit 20")
}

function describeEvents(events: readonly EventSummary[]): string {
  if (events.length === 0) return "no events\n"
  const rows = events.map(({ id, createdAt, session, origin, trusted, state, text }) => [
    id,
    describeTime(createdAt),
    session,
    trusted ? origin : `${origin} (untrusted)`,
    state,
    text,
  ])
  return formatTable(["Id", "Time", "Session", "Origin", "State", "Text"], rows)
}
