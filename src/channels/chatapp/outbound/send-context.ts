// What one call of an outbox row is done with.
import type { ReplyButton } from "../../../delivery/contract.ts"
import type { OutboxRow } from "../../../store/index.ts"
import type { Client } from "../client.ts"
import type { AccountSettings } from "../settings.ts"

export interface SendContext {
  client: Client
  settings: AccountSettings
  mediaRoot: string
  /** Durable before the call: what a button stands for, where the platform takes only a key. */
  keepLongValues: (buttons: readonly (readonly ReplyButton[])[]) => Promise<void>
  /** To be called right before the request leaves: what fails before has not been sent, whatever it was. */
  begin: () => void
  /** A turn has said it as its answer: whoever asked sees that it is missing. Of what a tool sends the model is told. */
  isReply: (row: OutboxRow) => boolean
  /** The platform has answered 429. */
  onFlood: (retryAfterMs: number) => void
  signal: AbortSignal
}
