// `svc cron ...`: what the agent is told at times: make, look at, run, pause and end it.
import { type Command, Option } from "commander"
import type { Occurrence, ScheduleDetail, ScheduleSummary } from "../../src/schedules/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions, wholeNumber } from "../options.ts"
import { formatTable } from "../table.ts"
import { printable, printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addCron(program: Command, context: CliContext): void {
  const cron = program.command("cron").description("Tell the agent things at times: reminders, repeated tasks")
  addAdd(cron, context)
  addList(cron, context)
  addShow(cron, context)
  addAct(cron, context, "run", "Run it once, at once")
  addAct(cron, context, "pause", "Pause it")
  addAct(cron, context, "resume", "Let it go on, from its next time")
  addAct(cron, context, "remove", "End it; what it has done stays known")
  addExamples(cron, 'svc cron add "Tell me the weather" --cron "0 7 * * *"', "svc cron list", "svc cron show 8f3a61c2")
}

interface AddOptions extends GatewayOptions {
  grace?: number
  tz?: string
  [name: string]: unknown
}

function addAdd(cron: Command, context: CliContext): void {
  const add = cron.command("add").description("Make a schedule").argument("<text>", "what the agent is told")
  addGatewayOptions(add)
    .option("--cron <fields>", "five fields: minute hour day month weekday")
    .option("--every <span>", "time between two runs: 30m, 6h")
    .option("--at <time>", "once: 18:00, 2026-12-24 18:00, or a moment with its zone")
    .option("--in <span>", "once, so long from now: 20m, 2h, 3 days")
    .option("--tz <zone>", "time zone of these times (default: the user's)")
    .option("--name <name>", "a name for lists")
    .option("--agent <id>", "which agent")
    .addOption(new Option("--session <which>", "in which conversation").choices(["main", "isolated"]))
    .option("--no-deliver", "the answer is sent nowhere")
    .option("--channel <name>", "channel of the answer")
    .option("--to <chat>", "recipient in that channel (default: who wrote last)")
    .option("--account <name>", "account of the channel")
    .addOption(new Option("--missed <rule>", "times at which nothing ran").choices(["late", "skip", "each"]))
    .option("--grace <minutes>", "how long such a time may be made up for", wholeNumber("--grace", 1, 10_080))
    .addOption(
      new Option("--wake <when>", "when the main conversation looks at the result of an isolated run").choices([
        "now",
        "next-heartbeat",
      ]),
    )
    .option("--model <model>", "model of the runs")
    .action(async (text: string, { tz, grace, wake, json, timeout, stateDir, ...wish }: AddOptions) => {
      const options: GatewayOptions = { timeout, ...(json ? { json } : {}), ...(stateDir ? { stateDir } : {}) }
      const body = { ...wish, text, timezone: tz, graceMinutes: grace, wakeMode: wake }
      const answer = await connectGateway(context, options).call("POST", "/api/schedules", { body })
      if (json) return context.output.json(answer)
      context.output.write(describe(answer as ScheduleDetail))
    })
  addExamples(
    add,
    'svc cron add "Summarise my unread mail" --cron "0 8 * * 1-5" --tz Europe/Berlin',
    'svc cron add "Remind me to call Ada" --in 20m',
    'svc cron add "Look whether the shop is up" --every 30m --missed skip',
  )
}

function addList(cron: Command, context: CliContext): void {
  const list = cron.command("list").description("List schedules")
  addGatewayOptions(list)
    .option("--all", "also those that are over")
    .action(async (options: GatewayOptions & { all?: boolean }) => {
      const query = { ended: options.all ? "true" : "false" }
      const answer = await connectGateway(context, options).call("GET", "/api/schedules", { query })
      if (options.json) return context.output.json(answer)
      context.output.write(describeList(readItems<ScheduleSummary>(answer, "schedules")))
    })
  addExamples(list, "svc cron list", "svc cron list --all")
}

function describeList(schedules: readonly ScheduleSummary[]): string {
  if (schedules.length === 0) return "nothing is scheduled\n"
  const rows = schedules.map(({ id, when, state, nextAt, last, name }) => [
    id,
    when,
    nextAt === null ? state : describeTime(nextAt),
    last ? `${describeTime(last.scheduledAt)} ${last.state}` : "-",
    name,
  ])
  return formatTable(["Id", "When", "Next", "Last", "Name"], rows)
}

function addShow(cron: Command, context: CliContext): void {
  const show = cron
    .command("show")
    .description("Show a schedule and what became of its times")
    .argument("<id>", "its id, the beginning of it, or its name")
  addGatewayOptions(show).action(async (id: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", pathOf(id))
    if (options.json) return context.output.json(answer)
    context.output.write(describe(answer as ScheduleDetail))
  })
  addExamples(show, "svc cron show 8f3a61c2")
}

const done = { run: "runs now", pause: "paused", resume: "goes on", remove: "removed" }

function addAct(cron: Command, context: CliContext, action: keyof typeof done, description: string): void {
  const command = cron
    .command(action)
    .description(description)
    .argument("<id>", "its id, the beginning of it, or its name")
  addGatewayOptions(command).action(async (id: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", `${pathOf(id)}/${action}`, { body: {} })
    if (options.json) return context.output.json(answer)
    const { runId, id: whole } = answer as { runId?: string; id?: string }
    context.output.line(
      runId === undefined
        ? `${whole} ${done[action]}`
        : context.output.named(`${done[action]}; look with: svc runs show ${runId}`),
    )
  })
  addExamples(command, `svc cron ${action} 8f3a61c2`)
}

function describe(item: ScheduleDetail): string {
  const { id, name, when, state, nextAt, goesTo, session, agentId, missed, graceMinutes, source, createdBy, text } =
    item
  const rows: [string, string][] = [
    ["id", id],
    ["name", name],
    ["when", when],
    ["next", nextAt === null ? state : describeTime(nextAt)],
    ["agent", `${agentId}, ${session === "main" ? "in its main conversation" : "in a conversation of its own"}`],
    ["goes to", goesTo],
    ["missed", `${missed}, within ${graceMinutes} min`],
    ["made", `${source}, by ${createdBy}`],
  ]
  const facts = rows.map(([title, value]) => `${title.padEnd(9)}${printableLine(value)}\n`).join("")
  return `${facts}\n${printable(text)}\n${describeTimes(item.occurrences)}`
}

function describeTimes(occurrences: readonly Occurrence[]): string {
  if (occurrences.length === 0) return ""
  const rows = occurrences.map(({ scheduledAt, state, runId, detail }) => [
    describeTime(scheduledAt),
    state,
    runId?.slice(-8) ?? "-",
    detail,
  ])
  return `\n${formatTable(["Time", "State", "Run", "What became of it"], rows)}`
}

function pathOf(id: string): string {
  return `/api/schedules/${encodeURIComponent(id)}`
}
