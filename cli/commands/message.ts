// `svc message ...`: puts a message, or what is done to one, into the gateway's outbox; the gateway does it, in order, and
// keeps trying.
import type { Command } from "commander"
import type { QueuedMessage } from "../../src/gateway/api.ts"
import { AppError } from "../../src/kernel/errors.ts"
import { describeRunDelivery } from "../../src/store/run-delivery.ts"
import { stateFolder, type CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { isAddress, isRefusal, prepareMedia } from "../media-file.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"

interface Options extends GatewayOptions {
  channel?: string
  target: string
  account?: string
  dryRun?: true
  wait: boolean
}

interface SendOptions extends Options {
  message?: string
  media?: string
  silent?: true
  asVoice?: true
  replyTo?: string
  threadId?: string
}

interface ChangeOptions extends Options {
  messageId: string
  message?: string
  emoji?: string
  remove?: true
}

export function addMessage(program: Command, context: CliContext): void {
  const message = program.command("message").description("Send messages to chats, edit, delete and react to them")
  const send = addPlace(message.command("send").description("Send a message, a file, or both to a chat"))
    .option("-m, --message <text>", "the text, or the caption of the file")
    .option("--media <path>", "a file: a path, or the http(s) address of one on the web")
    .option("--silent", "without a sound at the receiver")
    .option("--as-voice", "audio as a voice message")
    .option("--reply-to <id>", "message to reply to")
    .option("--thread-id <id>", "topic of a forum")
    .action((options: SendOptions) => sendMessage(context, options))
  addExamples(
    send,
    'svc message send --channel chatapp --target 123456789 --message "Good morning"',
    'svc message send --target https://t.me/somebody --message "Look" --media ./report.pdf --silent',
    "svc message send --target -1001234567890:topic:5 --message Done --dry-run --json",
  )
  addChanges(message, context)
  addExamples(
    message,
    'svc message send --target @somebody --message "Good morning"',
    'svc message edit --target 123456789 --message-id 42 --message "Good evening"',
    "svc message react --target 123456789 --message-id 42 --emoji 👍",
  )
}

function addChanges(message: Command, context: CliContext): void {
  const edit = addPlace(message.command("edit").description("Put another text into a message of the bot"))
    .requiredOption("--message-id <id>", "which message")
    .requiredOption("-m, --message <text>", "the new text")
    .action((options: ChangeOptions) => {
      if (options.message?.trim() === "") throw new AppError("bad-request", "--message must not be empty")
      return perform(context, "edit", { ...changeOf(options), message: options.message }, options)
    })
  addExamples(edit, 'svc message edit --target 123456789 --message-id 42 --message "Good evening"')
  const remove = addPlace(message.command("delete").description("Delete a message"))
    .requiredOption("--message-id <id>", "which message")
    .action((options: ChangeOptions) => perform(context, "delete", changeOf(options), options))
  addExamples(remove, "svc message delete --target @somebody --message-id 42")
  const react = addPlace(message.command("react").description("React to a message, or take the reaction away"))
    .requiredOption("--message-id <id>", "which message")
    .option("--emoji <emoji>", "one that the platform allows, such as 👍 ❤ 🔥 👀")
    .option("--remove", "take the reaction away")
    .action((options: ChangeOptions) => {
      if ((options.emoji === undefined) === (options.remove === undefined)) {
        throw new AppError("bad-request", "A reaction needs --emoji, or --remove to take it away")
      }
      return perform(context, "react", { ...changeOf(options), emoji: options.emoji ?? "" }, options)
    })
  addExamples(react, "svc message react --target 123456789 --message-id 42 --emoji 👍")
}

/** The options of every command here: which chat, and whether it is meant. */
function addPlace(command: Command): Command {
  return addGatewayOptions(command)
    .requiredOption("-t, --target <target>", "chat id, @name, t.me link, or <chat id>:topic:<thread id>")
    .option("--channel <channel>", "such as chatapp; may be left out when only one is configured")
    .option("--account <id>", "account of the channel, when there are several")
    .option("--dry-run", "check everything and do nothing")
    .option("--no-wait", "do not wait up to 10 seconds for what becomes of it")
}

/** A chat that works takes a message within a second or two. */
const longestWaitSeconds = 10

/** Long enough for the gateway to fetch a file from the web, which it gives half a minute. */
const fetchTimeoutMs = 40_000

async function sendMessage(context: CliContext, options: SendOptions): Promise<void> {
  const { message = "", media, silent, asVoice, replyTo, threadId } = options
  if (message === "" && media === undefined) {
    throw new AppError("bad-request", "A message needs --message, --media or both", {
      hint: "see: svc message send --help",
    })
  }
  const body = { ...placeOf(options), message, silent, asVoice, replyTo, threadId }
  if (media === undefined) return await perform(context, "send", body, options)
  // Nothing is copied where nobody is there to take it.
  connectGateway(context, options)
  const file = await prepareMedia(media, stateFolder(context, options.stateDir))
  const waiting = isAddress(media) ? { ...options, timeout: Math.max(options.timeout, fetchTimeoutMs) } : options
  try {
    await perform(context, "send", { ...body, media: file.source }, waiting)
  } catch (error) {
    if (options.dryRun || isRefusal(error)) await file.discard()
    throw error
  }
  if (options.dryRun) await file.discard()
}

async function perform(context: CliContext, action: string, body: object, options: Options): Promise<void> {
  if (options.target.trim() === "") throw new AppError("bad-request", "--target must not be empty")
  const waits = options.wait && !options.dryRun
  // Who has less time than that gets the answer within it.
  const hasTime = options.timeout >= longestWaitSeconds * 1000
  const waitSeconds = hasTime ? longestWaitSeconds : options.timeout / 2_000
  const answer = await connectGateway(context, options).call("POST", `/api/message/${action}`, {
    body: waits ? { ...body, waitSeconds } : body,
    ...(waits && hasTime ? { timeoutMs: options.timeout + longestWaitSeconds * 1000 } : {}),
  })
  // A script should see that it will never arrive.
  if ((answer as QueuedMessage | null)?.delivery?.state === "dead") context.exitCode = 1
  if (options.json) return context.output.json(answer)
  context.output.line(
    options.dryRun ? describeDryRun(answer, options) : context.output.named(describeQueued(answer, options)),
  )
}

function changeOf(options: ChangeOptions): object {
  if (!/^[1-9]\d{0,15}$/.test(options.messageId)) {
    throw new AppError("bad-request", `--message-id must be a number, not "${options.messageId}"`)
  }
  return { ...placeOf(options), messageId: options.messageId }
}

function placeOf({
  channel,
  target,
  account,
  dryRun,
}: Pick<Options, "channel" | "target" | "account" | "dryRun">): object {
  return { channel, target, account, dryRun }
}

function describeQueued(answer: unknown, { target }: Options): string {
  const ids = readItems<number>(answer, "deliveries")
  const look = ids[0] === undefined ? "" : ` (svc outbox show ${ids[0]})`
  const { delivery } = (answer ?? {}) as Partial<QueuedMessage>
  const outcome = delivery && delivery.state !== "queued" ? describeRunDelivery(delivery) : undefined
  return `${printableLine(outcome ?? `queued for ${target}`)}${delivery?.state === "sent" ? "" : look}`
}

function describeDryRun(answer: unknown, { target }: Options): string {
  const route = JSON.stringify((answer as { route?: unknown } | null)?.route ?? target)
  return `nothing was done; it would go to ${printableLine(route)}`
}
