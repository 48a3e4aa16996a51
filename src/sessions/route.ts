// Where a reply goes: a value fixed when a message arrives and carried with it. Nothing else decides a destination.

export interface Route {
  /** `chatapp`. */
  channel: string
  account: string
  /** The platform's chat id, as a string of digits with an optional minus. */
  chatId: string
  chatKind: "private" | "group" | "supergroup" | "channel"
  threadId?: string
  /** The message in this chat that a reply has to refer to, to stand where it was asked for: a post with comments below it. */
  commentsOf?: string
  /** Message that a reply may refer to. */
  messageId?: string
}

/** Who wrote something; set where it enters, never guessed from a name or key. */
export type Origin = "owner" | "approved-sender" | "group-member" | "webhook" | "web-page" | "model" | "system"
