// Where a reply goes: a value fixed when a message arrives and carried with it. Nothing else decides a destination.

export interface Route {
  /** `chatapp`. */
  channel: string
  account: string
  /** The platform's chat id, as a string of digits with an optional minus. */
  chatId: string
  chatKind: "private" | "group" | "supergroup" | "channel"
  threadId?: string
  /** Message that a reply may refer to. */
  messageId?: string
}

/** Who wrote something; set where it enters, never guessed from a name or key. */
export type Origin = "owner" | "approved-sender" | "group-member" | "webhook" | "web-page" | "model" | "system"
