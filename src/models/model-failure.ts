// All models have failed: what the operator reads (message, hint, log), and the one sentence for a person in a chat.
import { AppError } from "../kernel/index.ts"
import type { FailureKind } from "./failure/index.ts"

export class ModelFailure extends AppError {
  /** What became of the model that was wanted, whatever its fallbacks did. */
  readonly kind: FailureKind
  /** Why that one failed, without its name. */
  readonly reason: string
  /** Plain words without addresses, ids and names of hosts. */
  readonly chatMessage: string
  /** Whether what failed would fail whatever it was asked: nothing but the model and the way to it was at fault. */
  readonly isOfPlace: boolean
  /** Tokens that the conversation may have, where a provider has named them. */
  readonly contextLimit: number | undefined

  constructor(
    message: string,
    options: {
      kind: FailureKind
      reason: string
      chatMessage: string
      isOfPlace?: boolean
      contextLimit?: number
      hint?: string
      status?: number
      cause?: unknown
    },
  ) {
    const { kind, reason, chatMessage, isOfPlace = false, contextLimit, ...rest } = options
    super("model-failed", message, rest)
    this.name = "ModelFailure"
    this.kind = kind
    this.reason = reason
    this.chatMessage = chatMessage
    this.isOfPlace = isOfPlace
    this.contextLimit = contextLimit
  }
}
