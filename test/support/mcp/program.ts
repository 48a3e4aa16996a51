// An MCP server of the revisions before 2026, as a program on its standard streams, by the official library of that time.
// Its tools stand in a file, which a test may change; it starts a process of its own, as many servers do.
import { spawn } from "node:child_process"
import { appendFileSync, readFileSync } from "node:fs"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"

const [toolsFile = "", pidsFile = ""] = process.argv.slice(2)
const child = spawn("sleep", ["600"], { stdio: "ignore" })
appendFileSync(pidsFile, `${process.pid}\n${child.pid}\n`)
// What a careless program does: it must be ended by force.
process.on("SIGTERM", () => undefined)
process.stdin.on("end", () => undefined)
setInterval(() => undefined, 1_000)

const server = new Server({ name: "old", version: "1" }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: JSON.parse(readFileSync(toolsFile, "utf8")) as never,
}))
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name === "wait") await new Promise(() => undefined)
  const text =
    params.name === "environment"
      ? Object.keys(process.env).join(" ")
      : `${params.name} ${JSON.stringify(params.arguments)}`
  return { content: [{ type: "text", text: params.name === "flood" ? "x".repeat(200_000) : text }] }
})
process.stdout.write("a greeting that is no message\n")
await server.connect(new StdioServerTransport())
