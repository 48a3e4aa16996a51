// What an error of a provider means to those who retry, fall back and tell people about it. Types only.

export type FailureKind =
  /** No connection, or one that broke. */
  | "network"
  /** Overloaded, limited or loading: the same request may succeed a little later. */
  | "busy"
  /** It sent nothing for too long. */
  | "silent"
  /** The key is wrong, or may not do this. */
  | "key"
  /** No credit or quota is left. */
  | "credit"
  /** The conversation is longer than the model takes. */
  | "context"
  /** The request's shape was refused: whoever made it may mend it and ask once more. */
  | "form"
  /** Refused for another reason. */
  | "refused"
  | "unknown-model"
  /** The provider's policy on content stopped it. */
  | "declined"
  /** A reply without anything in it. */
  | "empty"
  /** A reply that could not be read, or a fault of our own. */
  | "broken"

export interface Failure {
  kind: FailureKind
  /** One sentence for the person who operates the gateway: the provider's own cause, cleaned, without secrets. */
  message: string
  /** One sentence for a person in a chat: plain words, nothing of the provider's text. */
  chatMessage: string
  /** The next step. */
  hint?: string
  status?: number
  /** The provider's own code or type. */
  code?: string
  /** Whether the same request may succeed a little later. */
  retryable: boolean
  /** As the provider asked. */
  retryAfterMs?: number
  /** Whether another key of the same provider may do better. */
  otherKeyMayHelp: boolean
  /** What answered is not the model's server: a page of a proxy or a portal, or a way to somewhere else. */
  isElsewhere?: true
  /** Kind `context`: the limit in tokens that the provider named. */
  contextLimit?: number
  /** Kind `context`: the limit is the model's own, not one of a minute. */
  isLasting?: boolean
}
