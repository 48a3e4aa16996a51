// The emulator as a program: `node emulator/main.ts` or `svc emulator`.
import { parseArgs } from "node:util"
import { startEmulator, type Emulator, type EmulatorOptions } from "./index.ts"

const help = `Runs a strict Telegram Bot API server on this machine, with a chat page to talk to your bot.

Usage: svc emulator [options]

  --port <n>              port to listen on, 0 for a free one (default 8081)
  --token <token>         bot token, like 123456:secret (default: made up)
  --control-token <text>  secret of the control API and the chat page (default: made up)
  --limits                refuse with 429 what exceeds the flood limits
  --local                 behave as a Bot API server of one's own: http webhooks, any port, no download limit
  --json                  print one JSON line instead of text
  --help                  print this help

Example: svc emulator --port 8081 --limits
`

const options = {
  port: { type: "string" },
  token: { type: "string" },
  "control-token": { type: "string" },
  limits: { type: "boolean" },
  local: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"]

class UsageError extends Error {}

function readOptions(values: Values): EmulatorOptions {
  const { port = "8081", token, "control-token": controlToken, limits, local } = values
  if (!/^\d+$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, not ${port}`)
  if (token !== undefined && !/^[1-9]\d*:[\w-]+$/.test(token))
    throw new UsageError("--token must look like 123456:secret")
  if (controlToken !== undefined && controlToken.length < 8)
    throw new UsageError("--control-token needs at least 8 characters")
  return {
    port: Number(port),
    ...(token === undefined ? {} : { token }),
    ...(controlToken === undefined ? {} : { controlToken }),
    ...(limits ? { limits: {} } : {}),
    ...(local ? { localMode: true } : {}),
  }
}

function parse(argv: string[]): Values {
  try {
    return parseArgs({ args: argv, options }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function announcement(emulator: Emulator, asJson: boolean): string {
  const { url, token, controlToken, pageUrl, bot } = emulator
  const controlUrl = `${url}/_emulator`
  if (asJson) return JSON.stringify({ apiRoot: url, token, username: bot.username, controlUrl, controlToken, pageUrl })
  return [
    `API root       ${url}`,
    `Bot token      ${token}`,
    `Control API    ${controlUrl}`,
    `Control token  ${controlToken}`,
    `Chat page      ${pageUrl}`,
    "Stop with Ctrl-C.",
  ].join("\n")
}

async function main(argv: string[]): Promise<void> {
  const values = parse(argv)
  if (values.help) {
    process.stdout.write(help)
    return
  }
  const emulator = await startEmulator(readOptions(values))
  process.stdout.write(`${announcement(emulator, values.json === true)}\n`)
  const stop = () => {
    emulator.stop().then(() => process.exit(0), fail)
  }
  process.once("SIGTERM", stop)
  process.once("SIGINT", stop)
}

/** In the form of every command of svc. */
function explain(error: unknown): { code: string; message: string; hint?: string } {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UsageError) return { code: "bad-request", message, hint: "Try --help" }
  const { code, port } = error as { code?: unknown; port?: unknown }
  if (code !== "EADDRINUSE") return { code: "internal", message: `The emulator cannot run: ${message}` }
  return {
    code: "port-in-use",
    message: `The emulator cannot run: port ${String(port)} is in use, perhaps by another emulator`,
    hint: "Stop that one, or pass --port 0 for a free port",
  }
}

const words = process.argv.slice(2)

function fail(problem: unknown): void {
  const error = explain(problem)
  process.exitCode = problem instanceof UsageError ? 2 : 1
  if (words.includes("--json")) return void process.stdout.write(`${JSON.stringify({ ok: false, error })}\n`)
  const hint = error.hint === undefined ? "" : `hint: ${error.hint}\n`
  process.stderr.write(`error: ${error.message}\n${hint}`)
}

main(words).catch(fail)
