// `svc runs`: what the agent was asked and what came of it, newest first.
import { randomUUID } from "node:crypto"
import type { Command } from "commander"
import type { RunDetail, RunSummary } from "../../src/gateway/api.ts"
import { describeRunDelivery } from "../../src/store/run-delivery.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { olderOption, readItems } from "../gateway/items.ts"
import {
  addExamples,
  addGatewayOptions,
  addPageOptions,
  type GatewayOptions,
  type PageOptions,
  wholeNumber,
} from "../options.ts"
import { formatTable } from "../table.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

const states = ["ready", "running", "done", "dead", "cancelled"] as const

export function addRuns(program: Command, context: CliContext): void {
  const runs = program.command("runs").description("Look at what the agent was asked to do")
  const list = runs.command("list", { isDefault: true }).description("List runs, newest first")
  addPageOptions(addGatewayOptions(list))
    .addOption(list.createOption("--state <state>", "only runs in this state").choices(states))
    .action(async (options: GatewayOptions & PageOptions & { state?: string }) => {
      const { limit, before, state } = options
      const answer = await connectGateway(context, options).call("GET", "/api/runs", {
        query: { limit, before, state },
      })
      if (options.json) return context.output.json(answer)
      context.output.write(describeRuns(readItems(answer, "items")))
      const older = olderOption(answer)
      if (older !== undefined) context.output.note(`older ones: svc runs list ${older}`)
    })
  addExamples(list, "svc runs list --state dead --limit 20")
  const show = runs
    .command("show")
    .description("Show one run with its steps")
    .argument("<runId>", "id as in the list, or its beginning")
  addGatewayOptions(show).action(async (runId: string, options: GatewayOptions) => {
    const path = `/api/runs/${encodeURIComponent(runId)}`
    const answer = await connectGateway(context, options).call("GET", path)
    if (options.json) return context.output.json(answer)
    context.output.write(describeRun(answer as RunDetail))
  })
  addExamples(show, "svc runs show 0190c7c2-5a5e-7d52-b9f4-0f3c1b7c9a11")
  const again = runs
    .command("again")
    .description("Run a turn again, in the same session: what it does, it does again")
    .argument("<runId>", "id as in the list, or its beginning")
    .option(
      "--from-step <n>",
      "go on before this step of the model, as: svc runs show <runId> numbers them",
      wholeNumber("--from-step", 1),
    )
  addGatewayOptions(again).action(async (runId: string, options: GatewayOptions & { fromStep?: number }) => {
    const path = `/api/runs/${encodeURIComponent(runId)}/again`
    const body = { key: randomUUID(), ...(options.fromStep === undefined ? {} : { step: options.fromStep }) }
    const answer = await connectGateway(context, options).call("POST", path, { body })
    if (options.json) return context.output.json(answer)
    const next = String((answer as { runId?: unknown }).runId)
    context.output.line(context.output.named(`run ${next} (svc runs show ${next})`))
  })
  addExamples(again, "svc runs again 0190c7c2", "svc runs again 0190c7c2 --from-step 3")
  addExamples(runs, "svc runs", "svc runs show <runId>", "svc runs again <runId>")
}

function describeRuns(runs: readonly RunSummary[]): string {
  if (runs.length === 0) return "no runs\n"
  const rows = runs.map(({ runId, kind, state, createdAt, session, asked, error }) => [
    runId,
    kind,
    state,
    describeTime(createdAt),
    session,
    error === null ? beginningOf(asked ?? "") : `failed: ${error}`,
  ])
  return formatTable(["Run", "Kind", "State", "Created", "Session", "About"], rows)
}

/** One line of a list. */
function beginningOf(text: string): string {
  const line = text.trim().replace(/\s+/g, " ")
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

function describeRun(run: RunDetail): string {
  const head = formatTable(
    ["Run", run.runId],
    [
      ["Kind", run.kind],
      ["About", beginningOf(run.asked ?? "")],
      ["Session", run.session],
      ["State", `${run.state}, attempts: ${run.attempts}`],
      ["Created", describeTime(run.createdAt)],
      ["Started", describeTime(run.startedAt)],
      ["Finished", describeTime(run.finishedAt)],
      ["Error", run.error],
      ["Result", resultText(run.result)],
      ["Delivery", run.delivery && describeRunDelivery(run.delivery)],
    ],
  )
  const input = `\nInput\n${indent(run.input)}\n`
  const steps = (run.steps ?? []).map(
    ({ n, kind, createdAt, data }) => `\nStep ${n} ${printable(kind)}, ${describeTime(createdAt)}\n${indent(data)}\n`,
  )
  return head + input + steps.join("")
}

/** What a turn noted of its delivery when it ended is told by the outbox, which knows what came of it. */
function resultText(result: string | null): string | null {
  try {
    const { text, delivered } = JSON.parse(result ?? "") as { text?: string; delivered?: string }
    return text === undefined
      ? result
      : [text, delivered?.startsWith("not delivered") ? delivered : ""].join("\n").trim()
  } catch (error) {
    // Not every kind of run notes an object, and a long one is cut.
    if (error instanceof SyntaxError) return result
    throw error
  }
}

function indent(value: unknown): string {
  return printable(JSON.stringify(value, null, 2) ?? "").replace(/^/gm, "  ")
}
