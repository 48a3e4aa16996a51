// Calls of the running gateway: command -> gateway.json -> HTTP on loopback -> the answer's JSON, or its coded error.
// The token goes only to the address that the gateway's own file names.
import type { GatewayFile } from "../../src/gateway/contract.ts"
import { AppError, errorTable, type ErrorCode } from "../../src/kernel/errors.ts"
import { stateFolder, type CliContext } from "../context.ts"
import { readGatewayFile, readToken } from "./file.ts"
import { sendRequest } from "./request.ts"
import type { HttpResponse } from "./response-reader.ts"

export interface CallOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. */
  body?: unknown
  timeoutMs?: number
}

export interface GatewayClient {
  file: GatewayFile
  /** The gateway's own API. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>
  /** The browser control service. */
  callBrowser(method: string, path: string, options?: CallOptions): Promise<unknown>
}

export const defaultTimeoutMs = 10_000

/** Throws `gateway-unreachable` when no gateway runs for the state folder. */
export function connectGateway(context: CliContext, options: { stateDir?: string; timeout?: number }): GatewayClient {
  const file = readGatewayFile(stateFolder(context, options.stateDir))
  const token = readToken(file)
  const request = async (host: string, port: number, method: string, path: string, call: CallOptions) => {
    // Such as "$ID" of a variable that is not set: the path would be that of something else.
    if (/\/\/|.\/$/.test(path.split("?", 1).join())) throw new AppError("bad-request", "The id or name is empty")
    const response = await sendRequest({
      host,
      port,
      method,
      path: withQuery(path, call.query),
      token,
      body: call.body,
      timeoutMs: call.timeoutMs ?? options.timeout ?? defaultTimeoutMs,
      signal: context.interrupted(),
    })
    return readAnswer(response)
  }
  const call: GatewayClient["call"] = (method, path, how = {}) =>
    request(reachableHost(file.host), file.port, method, path, how)
  return {
    file,
    call,
    async callBrowser(method, path, how = {}) {
      try {
        return await request("127.0.0.1", file.controlPort, method, path, how)
      } catch (error) {
        if (error instanceof AppError && error.code === "gateway-unreachable" && (await isBrowserOff(call)))
          throw browserOff(error)
        throw error
      }
    },
  }
}

/** Asks a gateway that may not be there either. */
async function isBrowserOff(call: GatewayClient["call"]): Promise<boolean> {
  try {
    const { parts } = (await call("GET", "/api/status")) as { parts?: Record<string, unknown> }
    return parts?.["browser"] === "off"
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

function browserOff(cause: AppError): AppError {
  return new AppError("browser-disabled", "Browser control is switched off in this gateway", {
    hint: "Set browser.enabled to true in the configuration: svc config set browser.enabled true",
    cause,
  })
}

/** Listening on all interfaces includes loopback, and 0.0.0.0 is no address to call. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "localhost" || host === "") return "127.0.0.1"
  return host === "::" ? "::1" : host
}

function withQuery(path: string, query: CallOptions["query"] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return text === "" ? path : `${path}?${text}`
}

function readAnswer({ status, body }: HttpResponse): unknown {
  const text = body.toString("utf8")
  let value: unknown
  try {
    value = text === "" ? null : JSON.parse(text)
  } catch (error) {
    throw new AppError("internal", `The gateway's answer (status ${status}) is not JSON`, { cause: error })
  }
  const failure = (value as { error?: { code?: unknown; message?: unknown; hint?: unknown } } | null)?.error
  if (status < 400) return value
  const code =
    typeof failure?.code === "string" && failure.code in errorTable ? (failure.code as ErrorCode) : "internal"
  const message = typeof failure?.message === "string" ? failure.message : `The gateway answered with status ${status}`
  const hint = typeof failure?.hint === "string" ? failure.hint : hintFor(code)
  throw new AppError(code, message, { status, ...(hint === undefined ? {} : { hint }) })
}

function hintFor(code: ErrorCode): string | undefined {
  return code === "unauthorized"
    ? "the gateway runs with another token than its token file holds: restart it"
    : undefined
}
