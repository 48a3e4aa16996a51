// What an outbox row of this channel holds: all that the one call and its fallbacks need.
import type { ReplyButton } from "../../../delivery/contract.ts"
import type { MediaKind } from "./media-kind.ts"
import type { ReactionEmoji } from "./reaction-emoji.ts"

interface Addressing {
  /** Message that this one refers to. */
  replyTo?: string
  quote?: string
  buttons?: ReplyButton[][]
  threadId?: string
  silent?: boolean
  /** Set when the chat has moved: goes before the chat of the row. */
  movedTo?: string
}

export interface FormattedText {
  /** HTML when `parseMode` is set, else plain. */
  text: string
  plain: string
  parseMode?: "HTML"
}

export interface TextPayload extends Addressing, FormattedText {
  linkPreview: boolean
}

export interface MediaFile {
  /** Absolute path below the media root. */
  path: string
  mediaType: string
}

export interface MediaPayload extends Addressing, MediaFile {
  caption?: FormattedText
  /** Set when the platform did not take it as what the row says. */
  sendAs?: MediaKind
}

/** Two to ten pictures and videos in one frame. */
export interface AlbumPayload extends Addressing {
  items: MediaFile[]
  caption?: FormattedText
  sendAs?: "document"
}

/** One that the platform has; nothing is uploaded. */
export interface StickerPayload extends Addressing {
  fileId: string
}

export type RowKind = "text" | "sticker" | "album" | MediaKind | ActionKind

export interface EditPayload extends FormattedText {
  messageId: string
  linkPreview: boolean
  /** The message is a file: its words are the caption. The platform has said so. */
  isCaption?: true
  /** All that the message has afterwards: the platform takes away what is not said again. */
  buttons?: ReplyButton[][]
}
export interface DeletePayload {
  messageId: string
}
export interface ReactPayload {
  messageId: string
  /** Null takes the reaction away. */
  emoji: ReactionEmoji | null
}

export type ActionKind = "edit" | "delete" | "react"

export function isAction(kind: string): kind is ActionKind {
  return kind === "edit" || kind === "delete" || kind === "react"
}
