// The way out to terminals: a reply is an outbox row like any other, and that row is where a terminal reads it. So it is
// kept, seen in the list of what was sent, and there for a terminal that comes back later.
import type { ChannelSender, Reply } from "../../delivery/contract.ts"
import { AppError } from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import type { NewOutbox } from "../../store/index.ts"
import { terminalChannel } from "./contract.ts"

export interface TerminalPayload {
  text: string
  /** Absolute. */
  file?: string
}

/** The chat of a session's terminals. */
export function terminalRoute(sessionKey: string): Route {
  return { channel: terminalChannel, account: "default", chatId: sessionKey, chatKind: "private" }
}

export function createTerminalSender(): ChannelSender {
  return {
    channel: terminalChannel,
    plan(route, reply) {
      const files = reply.media.map(({ path }): TerminalPayload => ({ text: "", file: path }))
      const text = textOf(reply)
      return [...(text === "" ? [] : [{ text }]), ...files].map((payload) => rowOf(route, payload))
    },
    isRepeatable: () => true,
    async send(row, _signal, begin) {
      begin()
      return { kind: "sent", remoteId: String(row.id) }
    },
    resolveTarget() {
      throw new AppError("target-invalid", "A terminal is answered where it asks; nothing is sent to it by name", {
        hint: 'Talk to the agent with: svc agent "..."',
      })
    },
  }
}

function textOf({ text, reasoning }: Reply): string {
  const thought = reasoning === undefined ? "" : reasoning.trim().replace(/^/gm, "> ")
  return [thought, text.trim()].filter((part) => part !== "").join("\n\n")
}

function rowOf(route: Route, payload: TerminalPayload): NewOutbox {
  const { channel, account, chatId } = route
  return {
    laneKey: `${channel}:${chatId}`,
    channel,
    account,
    chatId,
    route: { ...route },
    kind: payload.file === undefined ? "text" : "file",
    payload: { ...payload },
  }
}
