// From a finished turn to outbox rows, and from what a caller asked for (`last`, a channel and a recipient) to a route.
import { AppError, type Log } from "../kernel/index.ts"
import { type TurnDelivery, isHeartbeatAck, isSilence, mayBeSilent } from "../agent/index.ts"
import { type Route, type Sessions, mainKey } from "../sessions/index.ts"
import type { NewOutbox, OutboxRow, Write } from "../store/index.ts"
import type { ChannelSender, MessageChange, Reply, ReplyMedia } from "./contract.ts"
import { hasAnswered, prefixed, rowsOf } from "./answered.ts"
import { type EarlyPart, earlyParts, partText, sentLength, withReference } from "./early/index.ts"
import { closeFence, openFence } from "./fence.ts"
import { ownersFile } from "./owners-file.ts"
import { mediaTypeOf, parseReply } from "./reply.ts"
import { takeTags } from "./tags.ts"

export interface DeliveryOptions {
  sessions: Sessions
  /** By name of the channel. */
  senders: () => ReadonlyMap<string, ChannelSender>
  /** Whether the person of this chat is still let in. The last chat is nobody's address any more when it is not. Without it all are. */
  isLetIn?: (route: Route) => boolean
  ackMaxChars: () => number
  /** Absolute. Where files to send lie; unset: only those that tools have made are sent. */
  mediaRoot?: string
  /** What stands before every reply of this turn; empty for nothing. */
  responsePrefix?: (input: TurnDelivery["input"]) => string
  log: Log
}

export interface Target {
  /** `last` or the name of a channel. */
  channel: string
  to?: string | undefined
  account?: string | undefined
}

export interface OutgoingMessage {
  message: string
  media?: ReplyMedia[]
  replyTo?: string
  threadId?: string
  silent?: boolean
  asVoice?: boolean
}

export interface Delivery {
  /** Writes the rows of a turn's reply into its last transaction; says what it did. */
  deliverTurn(write: Write, delivery: TurnDelivery): string
  /** Fixes a destination. Throws `channel-unknown`, `target-invalid`; `no-route` when nobody has written yet. */
  resolve(agentId: string, target: Target): Route
  /** A file that a person or program names, ready to be sent. Throws `media-refused`. */
  takeMedia(route: Route, source: string, signal: AbortSignal): Promise<ReplyMedia>
  /** The rows of a message that a person or program sends directly. Throws `bad-request` when it shows nothing. */
  planMessage(route: Route, message: OutgoingMessage): NewOutbox[]
  /** The row that edits, deletes or reacts to a message. Throws `bad-request`. */
  planChange(route: Route, change: MessageChange): NewOutbox
}

/** Below an answer that somebody has stopped. */
const stoppedMark = "\n\n*(stopped)*"

/** The spec's eight platforms: known names that are not part of this release are told apart from typing errors. */
const plannedChannels = ["whatsapp", "discord", "slack", "signal", "imessage", "mattermost", "msteams"]

export function createDelivery(options: DeliveryOptions): Delivery {
  const senderOf = (channel: string): ChannelSender => {
    const sender = options.senders().get(channel)
    if (sender) return sender
    const known = [...options.senders().keys()].join(", ") || "none is configured"
    const planned = plannedChannels.includes(channel) ? " is not part of this release" : " is unknown or not configured"
    throw new AppError("channel-unknown", `Channel ${JSON.stringify(channel)}${planned}`, {
      hint: `Channels here: ${known}; or use "last"`,
    })
  }
  return {
    deliverTurn: (write, delivery) => deliverTurn(options, write, delivery),
    resolve(agentId, target) {
      const channel = target.channel.trim().toLowerCase()
      const heard = options.sessions.lastRoute(mainKey(agentId))
      const isShutOut = heard !== null && options.isLetIn?.(heard) === false
      // Of an account that is gone nothing would ever be sent.
      const isGone = heard !== null && options.senders().get(heard.channel)?.hasAccount?.(heard.account) === false
      const last = isShutOut || isGone ? null : heard
      const noRoute = () => (isGone ? accountGone(heard.account) : isShutOut ? shutOut() : nobodyYet())
      if (channel !== "last") {
        const sender = senderOf(channel)
        if (target.to !== undefined) return sender.resolveTarget(target.to, target.account)
        // A recipient known on one channel means nothing on another.
        if (last?.channel === channel) return withoutMessage(last)
        throw noRoute()
      }
      if (target.to !== undefined) {
        const senders = options.senders()
        const near = last && !senders.get(last.channel)?.isPage ? last : undefined
        const only = near?.channel ?? [...senders].find(([, sender]) => !sender.isPage)?.[0]
        if (only === undefined) throw noRoute()
        return senderOf(only).resolveTarget(target.to, target.account ?? near?.account)
      }
      if (!last) throw noRoute()
      return withoutMessage(last)
    },
    async takeMedia(route, source, signal) {
      const { takeMedia } = senderOf(route.channel)
      return takeMedia ? await takeMedia(route, source, signal) : { path: source, mediaType: mediaTypeOf(source) }
    },
    planMessage(route, message) {
      // There is no message that it answers; an id that is named beside the text wins over one in it.
      const reply: Reply = { ...takeTags(message.message, undefined), media: message.media ?? [] }
      if (message.replyTo !== undefined) reply.replyTo = message.replyTo
      if (message.silent) reply.silent = true
      if (message.asVoice) reply.asVoice = true
      const target = message.threadId === undefined ? route : { ...route, threadId: message.threadId }
      const rows = senderOf(route.channel).plan(target, reply)
      if (rows.length === 0) throw new AppError("bad-request", "There is nothing to send: the text shows nothing")
      return rows
    },
    planChange(route, change) {
      const row = senderOf(route.channel).planChange?.(route, change)
      if (row) return row
      throw new AppError("bad-request", `Channel ${route.channel} cannot change messages`)
    },
  }
}

function shutOut(): AppError {
  return new AppError(
    "no-route",
    "There is no chat to deliver to: who wrote to the agent last is not let in any more",
    {
      hint: "Name a recipient with `to`, or write to the bot once",
    },
  )
}

function accountGone(account: string): AppError {
  const message = `There is no chat to deliver to: who wrote to the agent last did so at account ${account}, which is gone`
  return new AppError("no-route", message, { hint: "Name a recipient with `to`, or write to another bot once" })
}

function nobodyYet(): AppError {
  return new AppError("no-route", "There is no chat to deliver to", {
    hint: "Nobody has written to the agent yet; name a recipient with `to`, or write to the bot once",
  })
}

/** A delivery of its own refers to no message. */
function withoutMessage(route: Route): Route {
  const { messageId: _dropped, ...rest } = route
  return rest
}

function deliverTurn(options: DeliveryOptions, write: Write, delivery: TurnDelivery): string {
  const { input } = delivery
  if (input.route === null)
    return input.routeProblem ? `not delivered: ${input.routeProblem}` : "not delivered: none was asked for"
  const sender = options.senders().get(input.route.channel)
  if (!sender) {
    options.log.warn(
      { channel: input.route.channel, session: input.sessionKey },
      "reply not delivered: no such channel",
    )
    return `not delivered: channel ${input.route.channel} is not configured any more`
  }
  const rows = rowsOf(write, delivery.jobId)
  const put = (reply: Reply | undefined, whenNothingShows?: string): string =>
    enqueue({ sender, write, delivery, route: input.route as Route, rows, whenNothingShows }, reply)
  if (delivery.isError) return put({ text: delivery.text, media: [] })
  const parsed = parseReply({
    text: delivery.text,
    allowedMedia: delivery.media,
    otherMedia: (named) => ownersFile(delivery, named, options.mediaRoot),
    currentMessageId: input.route.messageId,
  })
  for (const path of parsed.refused)
    options.log.warn({ path, session: input.sessionKey }, "media refused: no file that this turn may send")
  const { reply } = parsed
  if (delivery.isTainted) reply.noPreview = true
  const isAck = input.purpose !== "chat" && !delivery.showsAck
  if (isAck && isHeartbeatAck(reply.text, reply.media.length > 0, options.ackMaxChars())) {
    return "not delivered: nothing needs attention"
  }
  if (isSilence(reply.text)) {
    reply.text = ""
    if (reply.media.length === 0 && earlyParts(rows).length === 0) {
      put(undefined)
      return "not delivered: the agent chose to say nothing"
    }
  }
  const early = earlyParts(rows)
  const isBegun = early.some(({ step }) => step === (delivery.modelSteps ?? 1) - 1)
  if (!isBegun && hasAnswered(rows, sender, input.route)) {
    put(undefined)
    return "delivered by tool: the turn had answered already"
  }
  if (early.length > 0) return put(leftOver(delivery, reply, early))
  if (delivery.isStopped) {
    if (reply.text === "") return "not delivered: stopped before a word was written"
    reply.text = `${closeFence(reply.text)}${stoppedMark}`
  }
  if (reply.text === "" && reply.media.length === 0 && mayBeSilent(write, delivery.jobId, input)) {
    put(undefined)
    return "not delivered: the agent had nothing to add"
  }
  const noAnswer = input.purpose === "chat" ? "(The agent gave no answer.)" : undefined
  if (reply.text === "" && reply.media.length === 0) {
    if (noAnswer === undefined) return "not delivered: the reply is empty"
    reply.text = noAnswer
  }
  if (delivery.reasoning !== undefined && delivery.isReasoningApart) {
    const apart = sender.plan(input.route, { text: "", media: [], reasoning: delivery.reasoning })
    for (const row of apart) write.addOutbox({ ...row, jobId: delivery.jobId })
  } else if (delivery.reasoning !== undefined) reply.reasoning = delivery.reasoning
  reply.text = prefixed(reply.text, options.responsePrefix?.(input) ?? "")
  return put(reply, noAnswer)
}

/** What early parts have not said yet; undefined when they have said all. */
function leftOver(delivery: TurnDelivery, whole: Reply, early: readonly EarlyPart[]): Reply | undefined {
  const { text, modelSteps = 1, media, input } = delivery
  const sent = sentLength(early, modelSteps - 1, text)
  const rest = partText(text.slice(sent), openFence(text.slice(0, sent)))
  const { reply } = parseReply({ text: rest, allowedMedia: media, currentMessageId: input.route?.messageId })
  if (isSilence(reply.text)) reply.text = ""
  const left: Reply = { ...reply, media: whole.media, ...(whole.asVoice ? { asVoice: true } : {}) }
  if (whole.noPreview) left.noPreview = true
  if (left.text === "" && left.media.length === 0) return undefined
  return withReference(left, early, { step: modelSteps - 1, currentMessageId: input.route?.messageId })
}

interface Outgoing {
  sender: ChannelSender
  write: Write
  delivery: TurnDelivery
  route: Route
  /** What the turn has written so far. */
  rows: readonly OutboxRow[]
  /** Said instead of a reply of which nothing can be seen, such as an empty block of code. */
  whenNothingShows?: string | undefined
}

/** The rows of a reply, when there is one, and what follows a reply. */
function enqueue(outgoing: Outgoing, reply: Reply | undefined): string {
  const { sender, write, delivery, route, rows, whenNothingShows } = outgoing
  const { jobId, input } = delivery
  let planned = reply ? sender.plan(route, reply) : []
  if (planned.length === 0 && whenNothingShows !== undefined)
    planned = sender.plan(route, { text: whenNothingShows, media: [] })
  for (const row of [...planned, ...(sender.afterReply?.(input, rows) ?? [])]) write.addOutbox({ ...row, jobId })
  return `queued for ${route.channel} chat ${route.chatId}`
}
