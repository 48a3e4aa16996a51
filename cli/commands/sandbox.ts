// `svc sandbox ...`: what runs in sandboxes, what holds for an agent and why, and the end of a box.
import type { Command } from "commander"
import type { RunningBox } from "../../src/sandbox/contract.ts"
import type { Fault, SandboxExplanation } from "../../src/sandbox/explain.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addSandbox(program: Command, context: CliContext): void {
  const sandbox = program.command("sandbox").description("Look at what runs in sandboxes, and end it")
  addList(sandbox, context)
  addExplain(sandbox, context)
  addStop(sandbox, context)
  addExamples(sandbox, "svc sandbox explain", "svc sandbox list", "svc sandbox stop 4fq2k1")
}

function addList(sandbox: Command, context: CliContext): void {
  const list = sandbox.command("list").description("List the sandboxes that are running")
  addGatewayOptions(list).action(async (options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", "/api/sandbox")
    if (options.json) return context.output.json(answer)
    context.output.write(describeBoxes(readItems(answer, "sandboxes")))
  })
  addExamples(list, "svc sandbox list", "svc sandbox list --json")
}

function describeBoxes(boxes: readonly RunningBox[]): string {
  if (boxes.length === 0) return "nothing runs in a sandbox\n"
  const rows = boxes.map(({ id, kind, agentId, session, pid, startedAt, backend }) => [
    id,
    kind,
    agentId,
    session,
    String(pid),
    describeTime(Date.parse(startedAt)),
    backend,
  ])
  return formatTable(["Id", "Kind", "Agent", "Session", "Pid", "Started", "Backend"], rows)
}

function addExplain(sandbox: Command, context: CliContext): void {
  const explain = sandbox
    .command("explain")
    .description("Try the sandbox now, and say what runs in it and why")
    .option("--agent <id>", "agent (default: the main one)")
  addGatewayOptions(explain).action(async ({ agent, ...options }: GatewayOptions & { agent?: string }) => {
    const answer = await connectGateway(context, options).call("GET", "/api/sandbox/explain", { query: { agent } })
    if (options.json) return context.output.json(answer)
    for (const [name, value] of factsOf(answer as SandboxExplanation)) {
      context.output.line(`${name}: ${printableLine(value)}`)
    }
  })
  addExamples(explain, "svc sandbox explain", "svc sandbox explain --agent work")
}

const modes: Readonly<Record<SandboxExplanation["mode"], string>> = {
  off: "off: no session is sandboxed",
  untrusted: "untrusted: sessions that act on words of people and systems without standing",
  all: "all: every session",
}

const who: Readonly<Record<SandboxExplanation["tools"], string>> = {
  off: "off (agents.defaults.sandbox.tools)",
  trusted: "in turns of owners and approved senders",
  all: "in every turn",
}

function factsOf(answer: SandboxExplanation): [string, string][] {
  const { agent, mode, modeFrom, backend, version, limits, exec, browser, targets, tools } = answer
  const from = modeFrom === "default" ? " (not set: the machine decides)" : " (agents.*.sandbox.mode)"
  return [
    ["agent", agent],
    ["mode", modes[mode] + from],
    ["backend", `${backend}${version === undefined ? "" : ` ${version}`}`],
    ...works("commands", exec),
    ...works("browsers", browser),
    ["limits of memory and tasks", limits === "none" ? "none can be set here" : limits],
    ["browser of owners and approved senders", targets.owners],
    ["browser of others", targets.others],
    ["sandboxed sessions may use the host's browser", answer.allowHostControl ? "yes" : "no"],
    ["tools read, write, edit, list, exec", who[tools]],
    ["commands may ask for a network", answer.execNetwork ? "yes" : "no"],
    ["workspace", answer.workspace],
  ]
}

function works(what: string, fault: Fault | undefined): [string, string][] {
  if (!fault) return [[what, "work"]]
  return [
    [what, fault.problem],
    ["mend it by", fault.mend],
  ]
}

function addStop(sandbox: Command, context: CliContext): void {
  const stop = sandbox
    .command("stop")
    .description("End a sandbox with all that runs in it")
    .argument("<id>", "id of the sandbox, its beginning, or all")
  addGatewayOptions(stop).action(async (id: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", "/api/sandbox/stop", { body: { id } })
    if (options.json) return context.output.json(answer)
    const stopped = readItems<RunningBox>(answer, "stopped")
    context.output.line(stopped.length === 0 ? "nothing ran" : `ended: ${stopped.map((box) => box.id).join(", ")}`)
  })
  addExamples(stop, "svc sandbox stop 4fq2k1", "svc sandbox stop all")
}
