// Sends a tab to an address and waits until the page has loaded.
import { AppError } from "../../kernel/index.ts"
import type { LifecycleEvent, Operation, Tab } from "./tab.ts"

export interface NavigateReply {
  /** False when the page was there but went on loading past the time limit. */
  loaded: boolean
  /** Set when the address gave a file instead of a page; the tab stays where it was. */
  download: boolean
}

interface PageNavigateReply {
  loaderId?: string
  errorText?: string
  isDownload?: boolean
}

const marginMs = 100

/** `reasonFor` knows why an address failed where the browser only knows that it did. */
export async function navigate(
  tab: Tab,
  url: string,
  operation: Operation,
  reasonFor: (url: string) => AppError | undefined = () => undefined,
): Promise<NavigateReply> {
  const main = tab.targetId
  const seen = new Map<string, Set<string>>()
  const waiters = new Set<() => void>()
  const stop = tab.onLifecycle((event: LifecycleEvent) => {
    if (event.frameId !== main) return
    seen.set(event.loaderId, (seen.get(event.loaderId) ?? new Set()).add(event.name))
    for (const wake of waiters) wake()
  })
  try {
    const reply = await tab.session.send<PageNavigateReply>(
      "Page.navigate",
      { url },
      { signal: operation.signal, timeoutMs: 0 },
    )
    if (reply.isDownload) return { loaded: true, download: true }
    if (reply.errorText) throw reasonFor(await failedUrl(tab, url, operation)) ?? failed(reply.errorText)
    const { loaderId } = reply
    // No document of its own: only the fragment changed.
    if (loaderId === undefined) return { loaded: true, download: false }
    const timeLeft = operation.deadline - tab.clock.monotonic() - marginMs
    const loaded = await until(() => hasLoaded(seen, loaderId), waiters, timeLeft, operation.signal)
    return { loaded, download: false }
  } finally {
    stop()
  }
}

/** Which address it was that failed: the one asked for, or one that it led to. */
async function failedUrl(tab: Tab, url: string, { signal }: Operation): Promise<string> {
  const { frameTree } = await tab.session.send<{ frameTree: { frame: { unreachableUrl?: string } } }>(
    "Page.getFrameTree",
    {},
    { signal },
  )
  return frameTree.frame.unreachableUrl ?? url
}

/** The document has loaded, or has already sent the tab on to another that has. */
function hasLoaded(seen: Map<string, Set<string>>, loaderId: string): boolean {
  if (seen.get(loaderId)?.has("load")) return true
  const loaders = [...seen.keys()]
  const last = loaders.at(-1)
  return last !== undefined && last !== loaderId && loaders.includes(loaderId) && seen.get(last)?.has("load") === true
}

function until(
  holds: () => boolean,
  waiters: Set<() => void>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (holds()) return Promise.resolve(true)
  return new Promise((resolve, reject) => {
    const finish = (how: () => void) => {
      waiters.delete(check)
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      how()
    }
    const check = () => {
      if (holds()) finish(() => resolve(true))
    }
    const onAbort = () => finish(() => reject(signal.reason))
    const timer = setTimeout(() => finish(() => resolve(false)), Math.max(0, timeoutMs))
    waiters.add(check)
    signal.addEventListener("abort", onAbort, { once: true })
  })
}

function failed(errorText: string): AppError {
  if (errorText === "net::ERR_BLOCKED_BY_CLIENT") {
    return new AppError("navigation-refused", "The address, or one that it leads to, may not be opened", {
      hint: "browser.navigation decides which addresses may be",
    })
  }
  if (errorText === "net::ERR_ABORTED") {
    return new AppError("navigation-failed", "The address gave no page (net::ERR_ABORTED)", {
      hint: "It may be a download or an empty answer; the tab stays on its present page",
    })
  }
  return new AppError("navigation-failed", `The page could not be loaded: ${errorText}`, { hint: explain(errorText) })
}

function explain(errorText: string): string {
  if (/NAME_NOT_RESOLVED/.test(errorText)) return "Check the host name"
  if (/CONNECTION_REFUSED/.test(errorText)) return "Nothing listens at this address"
  if (/TUNNEL_CONNECTION_FAILED/.test(errorText))
    return "The site does not answer, or leads to an address that may not be opened"
  if (/INVALID_AUTH_CREDENTIALS/.test(errorText))
    return "The site asks for a name and password: set the tab's credentials"
  if (/CERT/.test(errorText)) return "The site's certificate is not valid"
  if (/TIMED_OUT/.test(errorText)) return "The site does not answer; try again later"
  return "Check the address and the network"
}
