// What a person does to a message by hand -> its outbox row. Whether the platform allows it, it says itself.
import type { MessageChange, ReplyButton } from "../../../delivery/contract.ts"
import { AppError } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { NewOutbox, Store } from "../../../store/index.ts"
import type { AccountSettings } from "../settings.ts"
import { ownMessage } from "../../shared/tool/sends.ts"
import { reactRow } from "./decoration.ts"
import { addressOf } from "./address.ts"
import { planEdit } from "./plan.ts"
import { reactionEmoji } from "./reaction-emoji.ts"
import type { Renderer } from "./render.ts"

export interface ChangeParts {
  store: Store
  settings: AccountSettings
  render: Renderer
}

export function planChange({ store, settings, render }: ChangeParts, route: Route, change: MessageChange): NewOutbox {
  const { messageId } = change
  if (!/^[1-9]\d{0,15}$/.test(messageId))
    throw new AppError("bad-request", `${JSON.stringify(messageId)} is no message id`)
  switch (change.action) {
    case "edit": {
      const own = ownMessage(store, route, messageId)
      // The platform takes away a keyboard that is not said again.
      const buttons = own === undefined ? undefined : (JSON.parse(own) as { buttons?: ReplyButton[][] }).buttons
      return planEdit(settings, render, route, { messageId, text: change.text, ...(buttons ? { buttons } : {}) })
    }
    case "delete":
      return { ...addressOf(route), kind: "delete", payload: { messageId } }
    case "react":
      return reactRow(route, { messageId, emoji: emojiOf(change.emoji) })
  }
}

/** Null takes the reaction away. Throws `bad-request`. */
export function emojiOf(text: string): string | null {
  if (text.trim() === "") return null
  const emoji = reactionEmoji(text)
  if (emoji !== undefined) return emoji
  const hint = "Use one of the common ones, such as 👍 ❤ 🔥 🎉 👀 🙏"
  throw new AppError("bad-request", "The platform does not allow this emoji as a reaction", { hint })
}
