// A real HTTP server in the gateway's place: records what it is asked and answers what the test says. Writes the
// gateway.json by which the program finds it, into a state folder of its own.
import { writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { once } from "node:events"
import { temporaryFolder } from "../../test/support/temporary.ts"

export interface RecordedRequest {
  method: string
  path: string
  authorization: string | undefined
  contentType: string | undefined
  body: unknown
}

export type Answer = (request: RecordedRequest, response: ServerResponse) => void

export interface StandInGateway {
  stateFolder: string
  environment: NodeJS.ProcessEnv
  port: number
  requests: RecordedRequest[]
  /** Changes gateway.json; the pid is that of the test process unless said otherwise. */
  writeFile(changes: Record<string, unknown>): void
  stop(): Promise<void>
}

export const standInToken = "a-token-of-the-stand-in"

export function answerJson(value: unknown, status = 200): Answer {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
  }
}

export async function startStandIn(answer: Answer): Promise<StandInGateway> {
  const stateFolder = temporaryFolder()
  const requests: RecordedRequest[] = []
  const server = createServer((request: IncomingMessage, response) => {
    void record(request).then((recorded) => {
      requests.push(recorded)
      answer(recorded, response)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const tokenFile = join(stateFolder, "gateway-token")
  writeFileSync(tokenFile, `${standInToken}\n`, { mode: 0o600 })
  const writeFile = (changes: Record<string, unknown>) => {
    const file = { pid: process.pid, bootId: "boot", host: "127.0.0.1", port, controlPort: port, tokenFile, ...changes }
    writeFileSync(join(stateFolder, "gateway.json"), JSON.stringify(file), { mode: 0o600 })
  }
  writeFile({})
  return {
    stateFolder,
    environment: { SVC_STATE_DIR: stateFolder },
    port,
    requests,
    writeFile,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

async function record(request: IncomingMessage): Promise<RecordedRequest> {
  const body = await text(request)
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    authorization: request.headers.authorization,
    contentType: request.headers["content-type"],
    body: body === "" ? undefined : JSON.parse(body),
  }
}
