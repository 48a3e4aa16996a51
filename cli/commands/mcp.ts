// `svc mcp ...`: the gateway's tools for other programs, on standard input and output; and the servers whose tools the
// agent uses.
import { readFileSync } from "node:fs"
import type { Command } from "commander"
import type { ServerDetail, ServerState } from "../../src/mcp/client/contract.ts"
import { AppError, describeError } from "../../src/kernel/errors.ts"
import { type CliContext, stateFolder } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readGatewayFile, readToken } from "../gateway/file.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printable, printableLine } from "../../src/kernel/terminal-text.ts"

export function addMcp(program: Command, context: CliContext): void {
  const mcp = program.command("mcp").description("Give the gateway's tools to other programs, and use those of others")
  addServe(mcp, context)
  addServers(mcp, context)
  addAccept(mcp, context)
  addExamples(mcp, "svc mcp", "svc mcp servers", "svc mcp accept search")
}

function addServe(mcp: Command, context: CliContext): void {
  const serve = mcp
    .command("serve", { isDefault: true })
    .description("Speak MCP on standard input and output, for a client that starts this program")
    .option("--token-file <path>", "file with the token to use (default: the gateway's own, which may do everything)")
    .option("--state-dir <dir>", "state folder (default: $SVC_STATE_DIR, else ~/.svc)")
    .action(async (options: { tokenFile?: string; stateDir?: string }) => {
      const { runBridge } = await import("../mcp/bridge.ts")
      const token = options.tokenFile === undefined ? undefined : readTokenFile(options.tokenFile)
      await runBridge({
        input: process.stdin,
        write: (line) => context.output.write(`${line}\n`),
        find() {
          const file = readGatewayFile(stateFolder(context, options.stateDir))
          const host = file.host.includes(":") ? `[${file.host}]` : file.host
          return { url: `http://${host}:${file.port}/mcp`, token: token ?? readToken(file) }
        },
      })
    })
  addExamples(serve, "svc mcp", "svc mcp serve --token-file ~/.config/browser-token")
}

function readTokenFile(path: string): string {
  let text: string
  try {
    text = readFileSync(path, "utf8").trim()
  } catch (error) {
    throw new AppError("bad-request", `Cannot read the token file: ${describeError(error)}`, {
      hint: "make a token: svc token create --scope browser --name <name>",
    })
  }
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return text
  throw new AppError("bad-request", `${path} does not hold a token`, {
    hint: "it must hold the token alone, in one line",
  })
}

function addServers(mcp: Command, context: CliContext): void {
  const servers = mcp
    .command("servers")
    .description("List the servers whose tools the agent may use, or open one and show its tools")
    .argument("[name]", "name of the server")
  addGatewayOptions(servers).action(async (name: string | undefined, options: GatewayOptions) => {
    const client = connectGateway(context, options)
    if (name !== undefined) {
      const answer = await client.call("GET", pathOf(name), { timeoutMs: Math.max(options.timeout, openMs) })
      if (options.json) return context.output.json(answer)
      return context.output.write(describeServer(context, answer as ServerDetail))
    }
    const answer = await client.call("GET", "/api/mcp/servers")
    if (options.json) return context.output.json(answer)
    context.output.write(describeServers(readItems(answer, "servers")))
  })
  addExamples(servers, "svc mcp servers", "svc mcp servers search")
}

/** A program may have to be fetched before it starts. */
const openMs = 90_000

function addAccept(mcp: Command, context: CliContext): void {
  const accept = mcp
    .command("accept")
    .description("Take the tools of a server as they are now, after it has changed them or has new ones")
    .argument("<name>", "name of the server")
  addGatewayOptions(accept).action(async (name: string, options: GatewayOptions) => {
    const timeoutMs = Math.max(options.timeout, openMs)
    const answer = await connectGateway(context, options).call("POST", `${pathOf(name)}/accept`, {
      body: {},
      timeoutMs,
    })
    if (options.json) return context.output.json(answer)
    context.output.write(describeServer(context, answer as ServerDetail))
  })
  addExamples(accept, "svc mcp servers search", "svc mcp accept search")
}

function pathOf(name: string): string {
  return `/api/mcp/servers/${encodeURIComponent(name)}`
}

function describeServers(servers: readonly ServerState[]): string {
  if (servers.length === 0) return "no servers are configured (mcp.servers)\n"
  const rows = servers.map(({ name, kind, enabled, revision, isStarting, tools, problem }) => [
    name,
    kind,
    enabled ? (revision ?? (isStarting ? "starting" : "not running")) : "off",
    String(tools),
    printableLine(problem ?? ""),
  ])
  return formatTable(["Server", "Kind", "Now", "Accepted tools", "Problem"], rows)
}

function describeServer({ output }: CliContext, { name, revision, items }: ServerDetail): string {
  const rows = items.map((tool) => [
    printableLine(tool.name),
    tool.state,
    printableLine(tool.description).slice(0, 100),
  ])
  const table = rows.length === 0 ? "it has no tools\n" : formatTable(["Tool", "State", "What it says of itself"], rows)
  const changes = items.flatMap(({ name: tool, state, accepted, now }) =>
    state === "changed" ? [`\n${printableLine(tool)}, accepted:\n${whole(accepted)}\nnow:\n${whole(now)}\n`] : [],
  )
  const waits = items.some(({ state }) => state !== "accepted")
  const next = waits ? output.named(`\nto take them as they are now: svc mcp accept ${name}\n`) : ""
  return `${name} speaks ${revision ?? "an unknown revision"}\n${table}${changes.join("")}${next}`
}

/** Nothing of it may be cut: it is what one decides about. */
function whole(tool: object | undefined): string {
  return printable(JSON.stringify(tool ?? {}, null, 2))
}
