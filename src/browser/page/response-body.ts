// The body of the next response whose address matches. It waits beside the tab's line, so that the action that brings
// the response can be done meanwhile.
import { AppError, raceAbort, withTimeout } from "../../kernel/index.ts"
import { CdpError, type CdpSession } from "../cdp/index.ts"
import type { Tab } from "./tab.ts"
import { matchesPartly } from "./url-pattern.ts"

export interface ResponseBody {
  url: string
  status: number
  headers: Record<string, string>
  body: string
  truncated?: true
}

interface ResponseEvent {
  requestId: string
  response: { url: string; status: number; headers: Record<string, string> }
}

const bufferBytes = 20 * 1024 * 1024

export async function waitForBody(
  tab: Tab,
  request: { url: string; maxChars: number; timeoutMs: number },
  parent: AbortSignal | undefined,
): Promise<ResponseBody> {
  const { signal, clear } = withTimeout(request.timeoutMs, `A response of ${request.url.slice(0, 200)}`, parent)
  const found = Promise.withResolvers<ResponseBody>()
  const stops: (() => void)[] = []
  const sessions = new Set<CdpSession>()
  try {
    await raceAbort(tab.attach(), signal)
    for (const frame of tab.frames.all) sessions.add(frame.session)
    for (const session of sessions) {
      stops.push(...listen(session, request, found))
      // The browser keeps bodies only while somebody waits for one.
      await session.send("Network.enable", { maxTotalBufferSize: bufferBytes, maxResourceBufferSize: bufferBytes })
    }
    return await raceAbort(found.promise, signal)
  } finally {
    clear()
    for (const stop of stops) stop()
    for (const session of sessions) await keepNothing(session)
  }
}

function listen(
  session: CdpSession,
  request: { url: string; maxChars: number },
  found: PromiseWithResolvers<ResponseBody>,
): (() => void)[] {
  const matching = new Map<string, ResponseEvent["response"]>()
  return [
    session.on("Network.responseReceived", (event: ResponseEvent) => {
      if (matchesPartly(request.url, event.response.url)) matching.set(event.requestId, event.response)
    }),
    session.on("Network.loadingFinished", (event: { requestId: string }) => {
      const response = matching.get(event.requestId)
      if (!response) return
      session
        .send<{ body: string; base64Encoded: boolean }>("Network.getResponseBody", { requestId: event.requestId })
        .then(({ body, base64Encoded }) => found.resolve(toReply(response, base64Encoded, body, request.maxChars)))
        .catch((error: unknown) => found.reject(lost(error)))
    }),
  ]
}

function toReply(
  { url, status, headers }: ResponseEvent["response"],
  base64Encoded: boolean,
  body: string,
  maxChars: number,
): ResponseBody {
  const text = base64Encoded ? Buffer.from(body, "base64").toString("utf8") : body
  const truncated = text.length > maxChars ? { truncated: true as const } : {}
  return { url, status, headers, body: text.slice(0, maxChars), ...truncated }
}

function lost(error: unknown): unknown {
  if (!(error instanceof CdpError)) return error
  return new AppError("navigation-failed", "The browser no longer has the body of this response", { cause: error })
}

async function keepNothing(session: CdpSession): Promise<void> {
  try {
    await session.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 })
  } catch (error) {
    // A tab that was closed meanwhile keeps nothing either.
    if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
  }
}
