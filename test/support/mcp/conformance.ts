// The official conformance suite against a server at an address: each scenario that a revision requires, with the checks that
// have failed. The suite sends no secret and speaks to one origin: a small relay in front adds the one and hands the other on.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, readdirSync } from "node:fs"
import { type Server, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { temporaryFolder } from "../temporary.ts"

const program = join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js")

export interface Conformance {
  /** Scenario and check: why. */
  failed: Map<string, string>
  passed: number
}

interface Check {
  id: string
  status: string
  errorMessage?: string
}

export async function runConformance(revision: string, gateway: { port: number; token: string }): Promise<Conformance> {
  const relay = await startRelay(gateway)
  const folder = temporaryFolder()
  const { port } = relay.address() as AddressInfo
  const words = [program, "server", "--url", `http://localhost:${port}/mcp`, "--requirements", revision, "-o", folder]
  const child = spawn(process.execPath, words, { stdio: "ignore", timeout: 50_000 })
  await once(child, "close")
  relay.closeAllConnections()
  relay.close()
  const failed = new Map<string, string>()
  let passed = 0
  for (const name of readdirSync(folder)) {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "")
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[]
    for (const { id, status, errorMessage } of checks) {
      if (status === "SUCCESS") passed += 1
      if (status === "FAILURE") failed.set(`${scenario}: ${id}`, errorMessage ?? "")
    }
  }
  return { failed, passed }
}

/** Its own name becomes the gateway's; any other Host stays as it is, for the gateway to refuse. */
async function startRelay({ port, token }: { port: number; token: string }): Promise<Server> {
  const relay = createServer((incoming, outgoing) => {
    const own = `localhost:${(relay.address() as AddressInfo).port}`
    const host = incoming.headers.host === own ? `localhost:${port}` : incoming.headers.host
    const headers = { ...incoming.headers, host, authorization: `Bearer ${token}` }
    const { method, url: path } = incoming
    const onward = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    outgoing.on("close", () => onward.destroy())
    incoming.pipe(onward)
  })
  relay.listen(0, "127.0.0.1")
  await once(relay, "listening")
  return relay
}
