// Requests of all attached tabs in one place, as the gate of the navigation policy knows them from a whole browser: the relay
// has a session for each tab and none for all. Numbers of requests are marked with the session that they came from.
import { AppError } from "../../kernel/index.ts"
import { CdpError, type CdpParams, type CdpSession } from "../cdp/index.ts"
import type { Tabs } from "../page/tabs.ts"

type Handler = (params: never) => void
interface Paused {
  requestId: string
}

const isAway = (error: unknown) =>
  error instanceof AppError && (error.code === "relay-not-connected" || error.code === "browser-lost")

const events = ["Fetch.requestPaused", "Fetch.authRequired"]

export function requestsOf(tabs: Tabs): CdpSession {
  const sessions = new Map<string, CdpSession>()
  const handlers = new Map<string, Set<Handler>>()
  let enabled: CdpParams | undefined
  const enable = async (session: CdpSession) => {
    if (!enabled) return
    try {
      await session.send("Fetch.enable", enabled)
    } catch (error) {
      // A frame or tab that is gone asks for nothing; of one that is there after the extension's sleep all would pass unseen.
      if (isAway(error) && sessions.has(session.id ?? "")) throw error
      if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
      sessions.delete(session.id ?? "")
    }
  }
  /** Each command waits a little for an extension that is away. */
  const enableInTheEnd = async (session: CdpSession): Promise<void> => {
    try {
      await enable(session)
    } catch (error) {
      if (!isAway(error)) throw error
      return enableInTheEnd(session)
    }
  }
  const join = (session: CdpSession) => {
    const id = session.id ?? ""
    sessions.set(id, session)
    for (const event of events) {
      session.on(event, (params: Paused) => {
        const marked = { ...params, requestId: `${id} ${params.requestId}` }
        for (const handler of handlers.get(event) ?? []) handler(marked as never)
      })
    }
    // Whatever is sent next in the session comes after it.
    void enableInTheEnd(session)
  }
  tabs.onTab((tab) => {
    const own = new Set<string>()
    tab.onSession((session) => {
      own.add(session.id ?? "")
      join(session)
      session.on("Target.detachedFromTarget", ({ sessionId }: { sessionId: string }) => {
        own.delete(sessionId)
        sessions.delete(sessionId)
      })
    })
    // The frames' ends are not told any more.
    tab.closed.addEventListener("abort", () => own.forEach((id) => sessions.delete(id)), { once: true })
  })
  return {
    id: undefined,
    on(method, handler) {
      const set = handlers.get(method) ?? new Set()
      handlers.set(method, set.add(handler))
      return () => set.delete(handler)
    },
    async send<Result>(method: string, params: CdpParams = {}): Promise<Result> {
      if (method === "Fetch.enable") {
        enabled = params
        await Promise.all([...sessions.values()].map(enable))
        return {} as Result
      }
      const [id = "", ...rest] = String(params["requestId"]).split(" ")
      const session = sessions.get(id)
      if (!session) throw new AppError("tab-not-found", "The request is gone with its tab")
      return session.send<Result>(method, { ...params, requestId: rest.join(" ") })
    },
  }
}
