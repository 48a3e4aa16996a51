// Mails, as the mail watch posts them: every message of a batch is a run and a conversation of its own.
import type { Preset } from "./preset.ts"

export const gmail: Preset = {
  name: "gmail",
  scheme: undefined,
  title: "Gmail",
  sessionKey: "hook:gmail:{{item.id}}",
  forEach: "payload.messages",
  otherwise: "New email from {{item.from}}\nSubject: {{item.subject}}\n{{item.snippet}}\n{{item.body}}",
}
