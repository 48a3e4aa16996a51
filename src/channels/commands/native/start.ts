// `/start`: what a chat with a bot begins with; the platform writes it for whoever opens one, and adds what a link to the
// bot carried. Everybody who is heard is answered.
import type { ChatCommand } from "../contract.ts"

export const startCommand = "start"

export const start: ChatCommand = {
  name: startCommand,
  summary: "Says how to begin",
  access: "anyone",
  tellsRefused: true,
  isUnlisted: true,
  time: "now",
  run({ route, sender }) {
    const isPrivate = route.chatKind === "private"
    const how = isPrivate
      ? "Write what you want to know or have done, as you would to a person. Pictures, files and voice notes are welcome too."
      : "Mention me in a message, or answer one of mine, and I will answer here."
    const more = sender.isAuthorised ? " /help shows the commands." : ""
    return { text: `Hello! I am here and listening.\n${how}${more}` }
  },
}
