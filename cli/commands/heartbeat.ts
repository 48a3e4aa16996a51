// `svc heartbeat ...`: how the heartbeats of the agents stand, and one now.
import type { Command } from "commander"
import type { HeartbeatItem, HeartbeatRun } from "../../src/gateway/api.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions, wholeNumber } from "../options.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeDuration, describeTime } from "../time.ts"

interface NowOptions extends GatewayOptions {
  agent?: string
  wait: number
}

export function addHeartbeat(program: Command, context: CliContext): void {
  const group = program.command("heartbeat").description("Show the agents' heartbeats, or run one now")
  const status = group.command("status").description("Show when heartbeats run, what speaks against it, and the last")
  addGatewayOptions(status).action(async (options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", "/api/heartbeat")
    if (options.json) return context.output.json(answer)
    context.output.write(readItems<HeartbeatItem>(answer, "heartbeats").map(describe).join("\n"))
  })
  addExamples(status, "svc heartbeat status")
  const now = group
    .command("now")
    .description("Ask the agent whether anything needs attention, whatever its hours and HEARTBEAT.md say")
  addGatewayOptions(now)
    .option("--agent <id>", "of this agent")
    .option("--wait <seconds>", "how long to wait for the outcome; 0: not at all", wholeNumber("--wait", 0, 600), 120)
    .action(async (options: NowOptions) => {
      const body = { agent: options.agent, waitSeconds: options.wait }
      const timeout = options.timeout + options.wait * 1000
      const gateway = connectGateway(context, { ...options, timeout })
      const run = (await gateway.call("POST", "/api/heartbeat/now", { body })) as HeartbeatRun
      if (options.json) return context.output.json(run)
      const open = context.output.named(`not done yet; look with: svc runs show ${run.runId}`)
      context.output.line(`heartbeat of ${run.agent}: ${printableLine(run.outcome ?? open)}`)
    })
  addExamples(now, "svc heartbeat now", "svc heartbeat now --agent main --wait 0")
  addExamples(group, "svc heartbeat status", "svc heartbeat now")
}

function describe(item: HeartbeatItem): string {
  const { agentId, session, everyMs, nextAt, target, route, shows, last, open, wouldSkip, waitingEvents } = item
  const every = everyMs === 0 ? "off (events still wake it)" : `every ${describeDuration(everyMs)}`
  const place = route ? `: ${route.channel} ${route.account} ${route.chatId}` : target === "none" ? "" : ": nowhere yet"
  const goes = `${target}${place}`
  const shown = Object.entries({ alerts: shows.showAlerts, OK: shows.showOk, status: shows.useIndicator })
  const rows: [string, string][] = [
    [agentId, every],
    ["session", session],
    ["next", nextAt === undefined ? "-" : describeTime(nextAt)],
    [
      "now",
      open
        ? `one is ${open === "ready" ? "waiting" : "running"}`
        : wouldSkip
          ? `would be skipped: ${wouldSkip}`
          : "would ask the model",
    ],
    ["events", waitingEvents ? "waiting" : "none"],
    ["goes to", goes],
    [
      "shows",
      shown
        .filter(([, on]) => on)
        .map(([name]) => name)
        .join(", ") || "nothing",
    ],
    ["last", last ? `${describeTime(last.at)} (${last.reason}): ${last.outcome}` : "none yet"],
  ]
  return rows.map(([name, value]) => printableLine(`${name.padEnd(10)}${value}`) + "\n").join("")
}
