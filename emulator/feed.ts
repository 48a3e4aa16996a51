// What happens in the emulator, as a stream of numbered events: the chat page, the waiters of the control API and the
// call log listen to it. It keeps the newest events, so that a listener over HTTP can go on where it stopped.
import type { Message } from "grammy/types"
import type { CallRecord } from "./control/call-record.ts"

export type EmulatorEvent =
  | { type: "message"; botId: number; chatId: number; from: "bot" | "user"; message: Message }
  | { type: "edited"; botId: number; chatId: number; from: "bot" | "user"; message: Message }
  | { type: "deleted"; botId: number; chatId: number; messageIds: number[] }
  | { type: "action"; botId: number; chatId: number; threadId?: number; action: string }
  | { type: "draft"; botId: number; chatId: number; draft: Draft | undefined }
  | { type: "reaction"; botId: number; chatId: number; messageId: number; from: "bot" | "user"; emoji: string[] }
  | { type: "callback-answer"; botId: number; queryId: string; text?: string; showAlert: boolean; url?: string }
  | { type: "call-started"; botId: number; call: CallRecord }
  | { type: "call"; botId: number; call: CallRecord }
  | { type: "webhook"; botId: number; updateId: number; status: number; error?: string }

/** A streamed preview of a message, as its user sees it. */
export interface Draft {
  draftId: number
  threadId?: number
  text: string
  entities: NonNullable<Message["entities"]>
  richMessage?: unknown
  canStop: boolean
  keepOnStop: boolean
  expiresAt: number
  stopped: boolean
}

export interface NumberedEvent {
  sequence: number
  event: EmulatorEvent
}

const keptEvents = 2000

export class Feed {
  readonly #listeners = new Set<(numbered: NumberedEvent) => void>()
  readonly #recent: NumberedEvent[] = []
  #sequence = 0

  publish(event: EmulatorEvent): void {
    this.#sequence += 1
    const numbered = { sequence: this.#sequence, event }
    this.#recent.push(numbered)
    if (this.#recent.length > keptEvents * 2) this.#recent.splice(0, keptEvents)
    for (const listener of this.#listeners) listener(numbered)
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: (numbered: NumberedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Events after a sequence number, oldest first, as far back as they are kept. */
  since(sequence: number): NumberedEvent[] {
    return this.#recent.filter((numbered) => numbered.sequence > sequence)
  }

  get sequence(): number {
    return this.#sequence
  }
}
