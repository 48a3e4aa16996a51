// Looks at where answers really came from. A name can be looked up as a public address by us and as a private one by the
// browser a moment later; sockets are not held by the gate at all. What was not to be reached is noticed here, afterwards.
import { AppError } from "../../../kernel/index.ts"
import type { CdpSession } from "../../cdp/index.ts"
import type { UrlPolicy } from "./url-policy.ts"

export interface AddressWatchOptions {
  policy(): UrlPolicy | undefined
  /** A page has an answer, or a socket, that the policy refuses. */
  onBreach(url: string): void
}

interface Answer {
  url: string
  remoteIPAddress?: string
}

/** Where the browser says that an answer came from; unknown behind a proxy, whose address would say nothing. */
const harmless = new Set(["Public", "Unknown"])

export function watchAddresses(session: CdpSession, { policy, onBreach }: AddressWatchOptions): void {
  const inside = new Set<string>()
  const answers = new Map<string, Answer>()
  const judge = (id: string) => {
    const answer = answers.get(id)
    if (!answer?.remoteIPAddress || !inside.has(id)) return
    if (policy()?.allowsAddress(answer.url, answer.remoteIPAddress) === false) onBreach(answer.url)
  }
  const forget = ({ requestId }: { requestId: string }) => {
    inside.delete(requestId)
    answers.delete(requestId)
  }
  // The two halves of an answer come in either order.
  session.on("Network.responseReceivedExtraInfo", (event: { requestId: string; resourceIPAddressSpace: string }) => {
    if (!policy() || harmless.has(event.resourceIPAddressSpace)) return
    inside.add(event.requestId)
    judge(event.requestId)
  })
  session.on("Network.responseReceived", (event: { requestId: string; response: Answer }) => {
    if (!policy()) return
    answers.set(event.requestId, event.response)
    judge(event.requestId)
  })
  session.on("Network.loadingFinished", forget)
  session.on("Network.loadingFailed", forget)
  session.on("Network.webSocketCreated", ({ url }: { url: string }) => {
    policy()
      ?.checkRequest(url)
      .catch((error: unknown) => {
        // A name that stands for nothing leads nowhere.
        if (error instanceof AppError && error.code === "navigation-refused") onBreach(url)
      })
  })
}
