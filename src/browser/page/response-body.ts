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

export async function waitForBody(
  tab: Tab,
  request: { url: string; maxChars: number; timeoutMs: number },
  parent: AbortSignal | undefined,
): Promise<ResponseBody> {
  const { signal: limit, clear } = withTimeout(request.timeoutMs, `A response of ${request.url.slice(0, 200)}`, parent)
  // A tab that is closed has no more responses.
  const signal = AbortSignal.any([limit, tab.closed])
  const found = Promise.withResolvers<ResponseBody>()
  const stops: (() => void)[] = []
  const sessions = new Set<CdpSession>()
  const follow = (session: CdpSession) => {
    sessions.add(session)
    stops.push(...listen(session, request, found))
    // A process that cannot keep bodies is one whose frames are gone.
    tab.bodies.begin(session, signal).catch(() => undefined)
  }
  try {
    await raceAbort(tab.attach(), signal)
    // Frames of other sites that the page has yet to make are listened to as well.
    stops.push(tab.onSession(follow))
    return await raceAbort(found.promise, signal)
  } finally {
    clear()
    for (const stop of stops) stop()
    for (const session of sessions) tab.bodies.end(session)
  }
}

function listen(
  session: CdpSession,
  request: { url: string; maxChars: number },
  found: PromiseWithResolvers<ResponseBody>,
): (() => void)[] {
  const matching = new Map<string, ResponseEvent["response"]>()
  const begun = new Set<string>()
  return [
    session.on("Network.requestWillBeSent", ({ requestId }: { requestId: string }) => begun.add(requestId)),
    session.on("Network.responseReceived", (event: ResponseEvent) => {
      if (matchesPartly(request.url, event.response.url)) matching.set(event.requestId, event.response)
    }),
    session.on("Network.loadingFinished", (event: { requestId: string }) => {
      const response = matching.get(event.requestId)
      if (!response) return
      session
        .send<{ body: string; base64Encoded: boolean }>("Network.getResponseBody", { requestId: event.requestId })
        .then(({ body, base64Encoded }) => found.resolve(toReply(response, base64Encoded, body, request.maxChars)))
        .catch((error: unknown) => {
          // Of one that was under way when we came the body may have been thrown away: the next one counts.
          if (begun.has(event.requestId) || !(error instanceof CdpError)) found.reject(lost(error))
        })
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
