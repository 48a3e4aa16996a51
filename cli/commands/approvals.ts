// `svc approvals ...`: what the agent asks to be allowed, and the answers.
import { type Command, Option } from "commander"
import type { ApprovalDetail, ApprovalSummary } from "../../src/approvals/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions, wholeNumber } from "../options.ts"
import { formatTable } from "../table.ts"
import { printable, printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

const states = ["asked", "allowed", "denied", "expired", "used"]

export function addApprovals(program: Command, context: CliContext): void {
  const approvals = program.command("approvals").description("Answer what the agent asks to be allowed")
  addList(approvals, context)
  addShow(approvals, context)
  addDecision(approvals, context, "allow", "Allow the action, once and exactly as it was asked")
  addDecision(approvals, context, "deny", "Deny the action")
  addExamples(approvals, "svc approvals list --state asked", "svc approvals allow 8f3a61c2")
}

function addList(approvals: Command, context: CliContext): void {
  const list = approvals.command("list").description("List the questions, newest first")
  addGatewayOptions(list)
    .addOption(new Option("--state <state>", "only those in this state").choices(states))
    .option("--limit <count>", "how many at most", wholeNumber("--limit", 1, 500), 50)
    .action(async (options: GatewayOptions & { state?: string; limit: number }) => {
      const query = { state: options.state, limit: options.limit }
      const answer = await connectGateway(context, options).call("GET", "/api/approvals", { query })
      if (options.json) return context.output.json(answer)
      context.output.write(describeList(readItems(answer, "approvals")))
    })
  addExamples(list, "svc approvals list --state asked")
}

function describeList(approvals: readonly ApprovalSummary[]): string {
  if (approvals.length === 0) return "nothing was asked\n"
  const rows = approvals.map(({ id, state, askedAt, expiresAt, session, text }) => [
    id,
    state,
    describeTime(askedAt),
    describeTime(expiresAt),
    session,
    text.split("\n", 1)[0] ?? "",
  ])
  return formatTable(["Id", "State", "Asked", "Until", "Session", "Action"], rows)
}

function addShow(approvals: Command, context: CliContext): void {
  const show = approvals
    .command("show")
    .description("Show the whole of one question")
    .argument("<id>", "id of the question, or its beginning")
  addGatewayOptions(show).action(async (id: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", pathOf(id))
    if (options.json) return context.output.json(answer)
    const { state, text, runId, session, origin, askedAt, expiresAt, decidedBy, usedAt } = answer as ApprovalDetail
    const facts: [string, string][] = [
      ["state", state],
      ["session", session],
      ["run", runId],
      ["acts on words of", origin],
      ["asked", describeTime(askedAt)],
      ["until", describeTime(expiresAt)],
      ["answered by", decidedBy ?? "nobody yet"],
      ...(usedAt === null ? [] : [["used", describeTime(usedAt)] as [string, string]]),
    ]
    for (const [name, value] of facts) context.output.line(`${name}: ${printableLine(value)}`)
    context.output.write(`\n${printable(text)}\n`)
  })
  addExamples(show, "svc approvals show 8f3a61c2")
}

function addDecision(approvals: Command, context: CliContext, decision: "allow" | "deny", description: string): void {
  const command = approvals
    .command(decision)
    .description(description)
    .argument("<id>", "id of the question, or its beginning")
  addGatewayOptions(command).action(async (id: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", `${pathOf(id)}/${decision}`, { body: {} })
    if (options.json) return context.output.json(answer)
    const { message } = answer as { message?: string }
    context.output.line(printableLine(message ?? decision))
  })
  addExamples(command, `svc approvals ${decision} 8f3a61c2`)
}

function pathOf(id: string): string {
  return `/api/approvals/${encodeURIComponent(id)}`
}
