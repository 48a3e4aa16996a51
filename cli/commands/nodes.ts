// `svc nodes ...`: the machines that offer their browser to the gateway, and who of them may.
import type { Command } from "commander"
import type { NodeSummary } from "../../src/nodes/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addNodes(program: Command, context: CliContext): void {
  const nodes = program
    .command("nodes")
    .description("Look at the machines that offer their browser, and let them in or not")
  addList(nodes, context)
  addDecision(nodes, context, {
    word: "approve",
    description: "Let a node in that asks, or one that was put out",
    argument: "code that the node shows, or its name or id",
    said: (name) => `let in: ${name}`,
    example: "svc nodes approve K7QF-29XM",
  })
  addDecision(nodes, context, {
    word: "revoke",
    description: "Put a node out, or turn one away that asks",
    argument: "name or id of the node",
    said: (name) => `may not connect any more: ${name}`,
    example: "svc nodes revoke studio",
  })
  addRename(nodes, context)
  addExamples(nodes, "svc nodes list", "svc nodes approve K7QF-29XM", "svc nodes rename studio attic")
}

function addList(nodes: Command, context: CliContext): void {
  const list = nodes.command("list").description("List the nodes, and those that ask to be let in")
  addGatewayOptions(list).action(async (options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", "/api/nodes")
    if (options.json) return context.output.json(answer)
    context.output.write(describe(readItems(answer, "nodes")))
  })
  addExamples(list, "svc nodes list", "svc nodes list --json")
}

function describe(nodes: readonly NodeSummary[]): string {
  if (nodes.length === 0) return "no nodes; on another machine: svc node run --gateway <address of this gateway>\n"
  const rows = nodes.map((node) => [
    printableLine(node.name),
    node.id,
    stateOf(node),
    node.code ?? "",
    node.browser ? printableLine(node.browser.profiles.join(", ")) : "",
    node.version,
    node.lastSeenAt === null ? "" : describeTime(node.lastSeenAt),
    node.fingerprint,
  ])
  return formatTable(["Name", "Id", "State", "Code", "Browser profiles", "Version", "Seen", "Key"], rows)
}

function stateOf({ state, code, connected }: NodeSummary): string {
  if (state === "revoked") return "revoked"
  if (state === "asked") return code === null ? "asked, lapsed" : "asks"
  return connected ? "connected" : "not connected"
}

interface Decision {
  word: "approve" | "revoke"
  description: string
  argument: string
  said(name: string): string
  example: string
}

function addDecision(nodes: Command, context: CliContext, decision: Decision): void {
  const { word, description, argument, said, example } = decision
  const command = nodes.command(word).description(description).argument("<node>", argument)
  addGatewayOptions(command).action(async (node: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", `/api/nodes/${word}`, { body: { node } })
    if (options.json) return context.output.json(answer)
    const { name, state, connected } = nodeOf(answer)
    context.output.line(said(printableLine(name)))
    if (state === "approved" && !connected)
      context.output.note("It connects by itself within a minute, where svc node run runs on it.")
  })
  addExamples(command, example)
}

function addRename(nodes: Command, context: CliContext): void {
  const rename = nodes
    .command("rename")
    .description("Give a node another name")
    .argument("<node>", "name or id of the node")
    .argument("<name>", "1 to 40 letters, digits, spaces and ._-")
  addGatewayOptions(rename).action(async (node: string, name: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", "/api/nodes/rename", { body: { node, name } })
    if (options.json) return context.output.json(answer)
    context.output.line(`renamed: ${printableLine(nodeOf(answer).name)}`)
  })
  addExamples(rename, "svc nodes rename studio attic")
}

function nodeOf(answer: unknown): NodeSummary {
  return (answer as { node: NodeSummary }).node
}
