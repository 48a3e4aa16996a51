// `svc message send`: puts a message into the gateway's outbox; the gateway sends it, in order, and keeps trying.
import { resolve } from "node:path"
import type { Command } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { printableLine } from "../terminal-text.ts"

interface Options extends GatewayOptions {
  channel?: string
  target: string
  message?: string
  media?: string
  account?: string
  silent?: true
  replyTo?: string
  threadId?: string
  dryRun?: true
}

export function addMessage(program: Command, context: CliContext): void {
  const message = program.command("message").description("Send messages to chats")
  const send = message.command("send").description("Send a message, a file, or both to a chat")
  addGatewayOptions(send)
    .requiredOption("-t, --target <target>", "chat id or @name")
    .option("-m, --message <text>", "the text, or the caption of the file")
    .option("--media <path>", "a file, as path or URL")
    .option("--channel <channel>", "such as chatapp; may be left out when only one is configured")
    .option("--account <id>", "account of the channel, when there are several")
    .option("--silent", "without a sound at the receiver")
    .option("--reply-to <id>", "message to reply to")
    .option("--thread-id <id>", "topic of a forum")
    .option("--dry-run", "check everything and send nothing")
    .action(async (options: Options) => {
      const body = composeMessage(options)
      const answer = await connectGateway(context, options).call("POST", "/api/message/send", { body })
      if (options.json) return context.output.json(answer)
      context.output.line(options.dryRun ? describeDryRun(answer, options) : describeQueued(answer, options))
    })
  addExamples(send, 'svc message send --channel chatapp --target 123456789 --message "Good morning"')
  addExamples(message, 'svc message send --target @somebody --message "Good morning"')
}

function composeMessage(options: Options): object {
  const { channel, target, message = "", media, account, silent, replyTo, threadId, dryRun } = options
  if (target.trim() === "") throw new AppError("bad-request", "--target must not be empty")
  if (message === "" && media === undefined) {
    throw new AppError("bad-request", "A message needs --message, --media or both", {
      hint: "see: svc message send --help",
    })
  }
  return {
    channel,
    target,
    message,
    media: media === undefined ? undefined : absoluteMedia(media),
    account,
    silent,
    replyTo,
    threadId,
    dryRun,
  }
}

/** A path means a file here, not in the folder that the gateway runs in. */
function absoluteMedia(media: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(media) ? media : resolve(media)
}

function describeQueued(answer: unknown, { target }: Options): string {
  const ids = readItems<number>(answer, "deliveries")
  const look = ids[0] === undefined ? "" : ` (svc deliveries show ${ids[0]})`
  return `queued for ${printableLine(target)}${look}`
}

function describeDryRun(answer: unknown, { target }: Options): string {
  const route = JSON.stringify((answer as { route?: unknown } | null)?.route ?? target)
  return `nothing was sent; it would go to ${printableLine(route)}`
}
