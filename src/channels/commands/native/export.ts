// `/export`: the conversation as a file, in the chat that asks. For owners in private chats: it has what tools have read.
import { AppError } from "../../../kernel/index.ts"
import { readChoice } from "../choices.ts"
import type { ChatCommand } from "../contract.ts"

const formats = ["markdown", "jsonl"] as const

export const exportSession: ChatCommand = {
  name: "export",
  summary: "Sends this conversation as a file",
  usage: "markdown | jsonl",
  access: "owner",
  where: "private",
  time: "now",
  async run({ args, sessionKey, runId, route }, services) {
    const format = args === "" ? "markdown" : readChoice(args, formats)
    if (!format) throw new AppError("bad-request", "I know two forms: `/export markdown` and `/export jsonl`.")
    const file = await services.archive.export(sessionKey, { format, name: runId, route })
    if (!file) return { text: "There is nothing to export yet." }
    return { text: `The conversation so far: ${file.messages} messages.`, media: [file.media] }
  },
}
