// Calls of the gateway's own API, with the types of its endpoints.
import type { Api } from "../src/gateway/endpoints/index.ts"
import { pageKey, signedOut } from "./session.ts"

export type { Api }
/** What an endpoint answers. */
export type Reply<Name extends keyof Api> = Api[Name]["reply"]

export class CallError extends Error {
  readonly status: number
  /** What to do about it. */
  readonly hint: string | undefined

  constructor(status: number, { message, hint }: { message: string; hint?: string }) {
    super(message)
    this.status = status
    this.hint = hint
  }
}

type Inputs<Name extends keyof Api> = {
  [Part in "params" | "query" | "body" as Api[Name][Part] extends undefined ? never : Part]?: Api[Name][Part]
}

const timeoutMs = 30_000

/** Answers that are on their way before whoever shows them is there, by address. */
const early = new Map<string, Promise<Response>>()

export function askEarly(address: string): void {
  const answer = send(`/api/${address}`, { signal: AbortSignal.timeout(timeoutMs) })
  // Told where it is taken.
  answer.catch(() => undefined)
  early.set(address, answer)
}

export const forgetEarly = (): void => early.clear()

export async function call<Name extends keyof Api>(
  name: Name,
  input: Inputs<Name> & { signal?: AbortSignal } = {} as Inputs<Name>,
): Promise<Reply<Name>> {
  const { params, query, body, signal } = input as Record<string, Record<string, unknown>> & { signal?: AbortSignal }
  // The build leaves `GET /api/` out of the names, and puts a plus for `POST /api/`.
  const method = /^(\+|POST)/.test(name) ? "POST" : "GET"
  const path = name.replace(/^(\+|\w+ \/api\/)/, "")
  const address = addressOf(path, params, query)
  const known = method === "GET" && early.get(address)
  early.delete(address)
  const response = await (known ||
    send(`/api/${address}`, {
      method,
      body: method === "POST" ? JSON.stringify(body ?? {}) : null,
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    }))
  return (await response.json()) as Reply<Name>
}

export const stopRun = (runId: string) => call("POST /api/runs/:runId/stop", { params: { runId } })

export const silence = { message: "The gateway does not answer", hint: "Is it running? svc gateway" }

/** The plain call, for what is no JSON. Throws CallError. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const key = pageKey()
  const headers = { "content-type": "application/json", "x-csrf-token": key, ...(init.headers as object) }
  const response = await fetch(`..${path}`, { ...init, headers }).catch((error: Error) => {
    if (error.name === "AbortError") throw error
    throw new CallError(0, silence)
  })
  if (response.ok) return response
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { message: string; hint?: string }
  }
  const failure = new CallError(response.status, error ?? { message: `The gateway answered ${response.status}` })
  // Another tab of this browser may have signed in meanwhile: its key is a good one.
  if (response.status === 401 && key === pageKey()) signedOut(failure.message)
  throw failure
}

function addressOf(path: string, params: Record<string, unknown> = {}, query: Record<string, unknown> = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "")
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given as [string, string][])}`
}
