// All models have failed: what the operator reads (message, hint, log), and the one sentence for a person in a chat.
import { AppError } from "../kernel/index.ts"

export class ModelFailure extends AppError {
  /** Plain words without addresses, ids and names of hosts. */
  readonly chatMessage: string
  /** Tokens that the conversation may have, where a provider has named them. */
  readonly contextLimit: number | undefined

  constructor(
    message: string,
    options: { chatMessage: string; contextLimit?: number; hint?: string; status?: number; cause?: unknown },
  ) {
    const { chatMessage, contextLimit, ...rest } = options
    super("model-failed", message, rest)
    this.name = "ModelFailure"
    this.chatMessage = chatMessage
    this.contextLimit = contextLimit
  }
}
