// The model server as a process of its own, for tests that kill the gateway: prints {"port": ...} as its first line,
// then one line for each request, and ends on SIGTERM or when its standard input closes.
// Use: node test/support/model-server/main.ts [--script instant|echo|slow|hang|busy|error|garbage|endless|long]
import { fstatSync } from "node:fs"
import { parseArgs } from "node:util"
import type { ScriptedReply } from "./reply.ts"
import { startModelServer, type Script } from "./server.ts"
import type { RecordedRequest } from "./recorded-request.ts"

const scripts: Readonly<Record<string, Script>> = {
  instant: (): ScriptedReply => ({ kind: "reply", text: "ok" }),
  echo: (request) => ({ kind: "reply", text: request.promptText().split("\n").at(-1) ?? "" }),
  slow: (): ScriptedReply => ({ kind: "drip", text: "slowly but surely", everyMs: 100 }),
  hang: (): ScriptedReply => ({ kind: "hang" }),
  busy: (): ScriptedReply => ({ kind: "status", status: 429, headers: { "retry-after": "2" } }),
  error: (): ScriptedReply => ({ kind: "status", status: 500 }),
  garbage: (): ScriptedReply => ({ kind: "garbage" }),
  endless: (): ScriptedReply => ({ kind: "endless" }),
  long: (): ScriptedReply => ({ kind: "reply", text: "word ".repeat(10_000), pieces: 10_000 }),
}

const { values } = parseArgs({ options: { script: { type: "string", default: "instant" } } })
const script = scripts[values.script]
if (!script) {
  process.stderr.write(`Unknown script; known: ${Object.keys(scripts).join(", ")}\n`)
  process.exit(2)
}

const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)
const server = await startModelServer({
  script: (request: RecordedRequest, n: number) => {
    print({ n, path: request.path, prompt: request.promptText() })
    return script(request, n)
  },
})
print({ port: server.port, baseUrl: server.baseUrl })

const stop = () =>
  void server.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
process.once("SIGTERM", stop)
// A parent that dies closes the pipe; a standard input that is no pipe says nothing about the parent.
if (!fstatSync(0).isCharacterDevice()) process.stdin.once("end", stop).resume()
