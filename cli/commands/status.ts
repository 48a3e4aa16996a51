// `svc status`: what the running gateway says of itself.
import type { Command } from "commander"
import { describeUsage } from "../../src/budget/amounts.ts"
import type { GatewayStatus } from "../../src/gateway/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeDuration } from "../time.ts"

export function addStatus(program: Command, context: CliContext): void {
  const command = program.command("status").description("Show the state of the running gateway")
  const action = async (options: GatewayOptions & { dismiss?: true }) => {
    if (options.dismiss) await connectGateway(context, options).call("POST", "/api/status/dismiss", { body: {} })
    const status = (await connectGateway(context, options).call("GET", "/api/status")) as GatewayStatus
    if (options.json) return context.output.json(status)
    for (const [name, value] of describeStatus(status)) {
      context.output.line(`${name.padEnd(10)}${printableLine(context.output.named(value))}`)
    }
  }
  addGatewayOptions(command)
    .option("--dismiss", "count from now on only failures that are new: those before have been seen")
    .action(action)
  addExamples(command, "svc status", "svc status --json")
}

function describeStatus(status: GatewayStatus): [string, string][] {
  const { jobs, outbox, events, store, model, usage, parts } = status
  const states = Object.entries(parts).map(([part, state]) => `${part} ${state}`)
  const age = describeDuration(Date.now() - Date.parse(status.startedAt))
  const rows: [string, string][] = [
    ["gateway", `running for ${age}, version ${status.version}, process ${status.pid}, ${status.memoryMb} MB`],
    ["ports", `${status.port}, browser control ${status.controlPort}`],
    ["state", status.stateFolder],
    ["config", status.configPath],
    ["parts", states.join(", ")],
    ["model", `${"id" in model ? model.id : `none: ${model.error}`}; today ${describeUsage(usage.today)}`],
    ...(model.warnings ?? []).map((warning): [string, string] => ["", `may not work: ${warning}`]),
    ["jobs", `${jobs.running} running, ${jobs.ready} waiting, ${jobs.dead} failed for good`],
    [
      "outbox",
      `${outbox.new} waiting, ${outbox.sending} sending, ${outbox.uncertain} uncertain, ${outbox.dead} failed`,
    ],
    ["events", `${events.waiting} waiting, ${events.setAside} set aside${events.setAside > 0 ? " (svc events)" : ""}`],
  ]
  for (const { agentId, nextAt, last } of status.heartbeats ?? [])
    rows.push(["heartbeat", describeBeat(agentId, nextAt, last)])
  if (status.backup) rows.push(["backup", describeBackup(status.backup)])
  if (outbox.uncertain > 0) {
    rows.push(["", `${outbox.uncertain} may not have arrived: svc outbox list --state uncertain`])
  }
  for (const { part, problem, next } of status.problems ?? []) {
    if (part === "outbox" && problem.includes("may not have arrived")) continue
    rows.push(["problem", `${part}: ${problem}${next === undefined ? "" : ` (${next})`}`])
  }
  if (store.unwritten !== undefined) rows.push(["store", `${store.unwritten} results wait to be written`])
  // Told among the problems already, where what keeps it has a word of its own.
  const isTold = status.problems?.some(({ part, problem }) => part === "store" && problem === store.problem) ?? false
  if (!isTold && !store.accepting) {
    rows.push(["store", `not accepting: ${store.problem ?? "look at the log (svc logs)"}`])
  }
  if (status.configProblem !== undefined) {
    rows.push(["problem", `the configuration file is not in force: ${status.configProblem}`])
  }
  return rows
}

function describeBeat(
  agentId: string,
  nextAt: number | undefined,
  last: GatewayStatus["heartbeats"][number]["last"],
): string {
  const before = last ? `${describeDuration(Date.now() - last.at)} ago: ${last.outcome}` : "none yet"
  const next = nextAt === undefined ? "none planned" : `next in ${describeDuration(nextAt - Date.now())}`
  return `${agentId}, ${before}; ${next} (svc heartbeat status)`
}

function describeBackup({ running, last, failure }: NonNullable<GatewayStatus["backup"]>): string {
  const age = last ? `last made ${describeDuration(Date.now() - last.createdAt)} ago` : "none made yet"
  const now = running ? ", one is being made" : ""
  return `${age}${now}${failure ? `; the last try FAILED: ${failure.error}` : ""}`
}
