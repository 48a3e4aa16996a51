// Tells a context of a browser the secret of its proxy, once, before any page is loaded there: a request that only the proxy
// answers is asked for the login, and the browser then shows it with everything that it sends that way.
import { AppError, runWithTimeout } from "../../../kernel/index.ts"
import type { CdpConnection } from "../../cdp/index.ts"
import type { AuthAnswer, AuthChallenge } from "./request-gate.ts"

/** Answered by the proxy itself. */
export const greetingUrl = "http://guard.invalid/"

export interface Greeter {
  /** The answer for a browser that is asked by this proxy; undefined when something else asks. */
  login(challenge: AuthChallenge): AuthAnswer | undefined
}

const closeMs = 10_000

/**
 * In a context of its own when `space` is given, else in the browser's own. `inUse`: tabs are worked with by now, and one
 * that is blank may be on its way to a page, which a greeting in it would cut off.
 */
export async function greet(
  connection: CdpConnection,
  proxy: Greeter,
  { space, signal, inUse = false }: { space?: string; signal?: AbortSignal; inUse?: boolean } = {},
): Promise<void> {
  const { root } = connection
  const blank = space === undefined && !inUse ? await findBlank(connection, signal) : undefined
  const targetId = blank ?? (await makeTab(connection, space, signal))
  const { sessionId } = await root.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true })
  const session = connection.session(sessionId)
  // A page that goes away takes its requests with it.
  const answer = (method: string, parameters: object) => void session.send(method, { ...parameters }).catch(() => {})
  session.on("Fetch.requestPaused", ({ requestId }: { requestId: string }) =>
    answer("Fetch.continueRequest", { requestId }),
  )
  let asked = false
  session.on("Fetch.authRequired", (event: { requestId: string; authChallenge: AuthChallenge }) => {
    const authChallengeResponse = (asked ? undefined : proxy.login(event.authChallenge)) ?? { response: "CancelAuth" }
    asked = true
    answer("Fetch.continueWithAuth", { requestId: event.requestId, authChallengeResponse })
  })
  await session.send("Fetch.enable", { handleAuthRequests: true }, { signal })
  // The answer has no content, so the tab goes on showing what it shows.
  await session.send("Page.navigate", { url: greetingUrl }, { signal })
  connection.endSession(sessionId, new AppError("aborted", "The greeting is done"))
  if (blank === undefined) await closeTab(connection, targetId, space === undefined ? { sessionId } : { targetId })
  else await root.send("Target.detachFromTarget", { sessionId })
}

/** The tab that a browser begins with. */
async function findBlank({ root }: CdpConnection, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { targetInfos } = await root.send<{ targetInfos: { targetId: string; type: string; url: string }[] }>(
    "Target.getTargets",
    { filter: [{ type: "page" }] },
    { signal },
  )
  return targetInfos.find(({ url }) => url === "about:blank")?.targetId
}

async function makeTab({ root }: CdpConnection, space: string | undefined, signal: AbortSignal | undefined) {
  const { targetId } = await root.send<{ targetId: string }>(
    "Target.createTarget",
    { url: "about:blank", background: true, ...(space === undefined ? {} : { browserContextId: space }) },
    { signal },
  )
  return targetId
}

/**
 * Resolves when the tab is gone for everyone: it must not be taken for one that somebody uses. Before anybody follows the
 * browser's tabs, the end of our session is all that tells.
 */
async function closeTab(
  { root, closed }: CdpConnection,
  targetId: string,
  sign: { targetId: string } | { sessionId: string },
): Promise<void> {
  const gone = Promise.withResolvers<void>()
  const stop =
    "targetId" in sign
      ? root.on("Target.targetDestroyed", (event: { targetId: string }) => {
          if (event.targetId === sign.targetId) gone.resolve()
        })
      : root.on("Target.detachedFromTarget", (event: { sessionId: string }) => {
          if (event.sessionId === sign.sessionId) gone.resolve()
        })
  try {
    await root.send("Target.closeTarget", { targetId })
    await runWithTimeout(closeMs, "Closing a tab", () => Promise.race([gone.promise, closed]))
  } finally {
    stop()
  }
}
