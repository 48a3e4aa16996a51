// A touched button: answered at once -> may whoever touched it speak here, now? -> its value as a message of that person
// about the message it stands below, or the command that we have put behind it. A value is never read as a command, and
// never counts for more than the turn that made it: whoever touches it has not written it.
import type { CallbackQuery, Message, Update } from "grammy/types"
import { type TurnInput, turnJob } from "../../../agent/turn-input.ts"
import { resendJob } from "../../../delivery/doubt.ts"
import type { Json } from "../../../kernel/index.ts"
import type { Origin } from "../../../sessions/route.ts"
import { leastTrusted } from "../../../store/index.ts"
import { type ButtonValue, buttonsRefused } from "../outbound/buttons.ts"
import { askerOf, decideAccess } from "./access.ts"
import { type Speaker, planCommandClick } from "./command.ts"
import { senderLabel } from "./content/index.ts"
import { placeInput } from "./conversation.ts"
import { type Standing, clickHeaderOf } from "./header.ts"
import { isDirect, placeFor, placeOf } from "./place.ts"
import { queuedAt } from "./queued.ts"
import { type PlanContext, type Planned, type SkipReason, entryOf, skip } from "./planned.ts"
import { senderOf } from "./principal.ts"

type Clicked = NonNullable<CallbackQuery["message"]>

export function planClick(update: Update, query: CallbackQuery, context: PlanContext): Planned {
  const planned = decide(update, query, context)
  const text = planned.kind === "skipped" ? refusals[planned.reason] : undefined
  return { ...planned, effects: [{ kind: "answer-click", queryId: query.id, ...(text === undefined ? {} : { text }) }] }
}

/** Shown to whoever touched it; the platform takes 200 characters. */
const refusals: Partial<Record<SkipReason, string>> = {
  "click-refused": "You may not use this button.",
  "command-refused": "You may not use this button.",
  "buttons-off": "Buttons are switched off here.",
  "button-lapsed": "This button is too old. Please write instead.",
  "topic-unknown": "This button is too old. Please write instead.",
}

function decide(update: Update, query: CallbackQuery, context: PlanContext): Planned {
  const { message, from, data } = query
  const seen = {
    kind: "callback_query",
    chat: message ? String(message.chat.id) : null,
    message: message?.message_id ?? null,
    sender: from.id,
  }
  const refuse = (reason: SkipReason) => skip(update, context, reason, seen)
  if (!message || data === undefined || data.trim() === "") return refuse("empty-click")
  const { settings } = context
  const whole = withThread(message, context)
  if (!whole) return refuse("topic-unknown")
  const touched = placeOf(whole, context)
  const sender = senderOf(from)
  const decision = decideAccess({ chat: message.chat, topicId: touched.topicId, sender }, context)
  if (decision.kind !== "accept") return refuse("click-refused")
  const place = placeFor(touched, decision, context)
  if (settings.capabilities.inlineButtons === "allowlist" && !isOnAList(decision, settings))
    return refuse("click-refused")
  if (buttonsRefused(settings, message.chat.type) !== undefined) return refuse("buttons-off")
  const button = context.look.buttonValue(data)
  if (!button) return refuse("button-lapsed")
  const speaker: Speaker = { place, sender, decision }
  if (button.handler !== undefined)
    return planHandled(update, { ...seen, rule: decision.rule }, button.value, place, context)
  if (button.runs) return planCommandClick(update, message, button.value, speaker, context)
  const key = `click:${settings.accountId}:${seen.chat}:${seen.message}:${sender.id}:${data}`
  if (context.earlier.isJoinOpen(key)) return refuse("click-repeated")
  const entry = entryOf(update, context, { ...seen, rule: decision.rule })
  const job = turnJob(context.ids.uuid(), inputOf(query, message, button, speaker, context))
  entry.jobs = [{ ...job, join: { key, holdMs: 0, maxHoldMs: 0 } }]
  const { route, sessionKey } = place
  return { kind: "accepted", entry, route, sessionKey, remember: decision.trusted || !isDirect(message.chat) }
}

/**
 * Whoever an open group alone lets in is on no list. People of `allowFrom`, who are trusted there for that, and its
 * wildcard count in groups too.
 */
function isOnAList({ rule, trusted }: Speaker["decision"], { allow }: PlanContext["settings"]): boolean {
  return rule !== "group-open" || trusted || allow.everybody
}

/** Of ours, and about the chat it stands in: no turn, and nothing that a model is told. */
function planHandled(
  update: Update,
  seen: Record<string, Json>,
  value: string,
  { route, sessionKey }: ReturnType<typeof placeOf>,
  context: PlanContext,
): Planned {
  const entry = entryOf(update, context, seen)
  entry.jobs = [resendJob(context.ids.uuid(), value, route)]
  return { kind: "accepted", entry, route, sessionKey, remember: false }
}

function inputOf(
  query: CallbackQuery,
  message: Clicked,
  button: ButtonValue,
  { place, sender, decision }: Speaker,
  context: PlanContext,
): TurnInput {
  const { settings } = context
  const standing = standingOf(message, button, decision, context)
  const isOwn = standing.trusted || !decision.trusted
  const queued = queuedAt(place, sender, context)
  return {
    agentId: place.agentId,
    sessionKey: place.sessionKey,
    purpose: "chat",
    ...standing,
    header: clickHeaderOf(message, {
      place,
      standing: decision,
      madeBy: isOwn ? undefined : standing.origin,
      envelope: settings.envelope,
      now: Math.floor(context.now / 1000),
    }),
    about: { sender: senderLabel(query.from), ...(isOwn ? {} : { buttonBy: standing.origin }) },
    text: `callback_data: ${button.value}`,
    mentioned: true,
    askedBy: askerOf(sender, decision),
    route: place.route,
    ...(queued ? { queue: queued.rule } : {}),
    ...placeInput(message.chat, { place, sender }, settings),
  }
}

/** The click's own standing, or that of the turn which wrote the button, whichever is less. */
function standingOf(
  message: Clicked,
  { madeBy }: ButtonValue,
  { origin, trusted }: Standing,
  { look }: PlanContext,
): Standing {
  const sentBy = look.writtenBy(message.chat, message.message_id)
  const maker = leastTrusted([sentBy, madeBy].filter((each) => each !== undefined))
  // Rows that are older than their columns, or gone, do not say whose words they held.
  if (!trusted || !maker) return { origin: trusted ? "model" : origin, trusted: false }
  if (!maker.trusted) return { origin: maker.origin as Origin, trusted: false }
  const isLess = origin === "owner" && maker.origin === "approved-sender"
  return { origin: isLess ? (maker.origin as Origin) : origin, trusted: true }
}

/** The platform tells nothing but the number of a message that it has forgotten; we know where we have sent it. */
function withThread(message: Clicked, { look }: PlanContext): Message | undefined {
  if (message.date !== 0) return message as Message
  const sent = look.sentRoute(message.chat, message.message_id)
  const isForum = message.chat.type === "supergroup" && message.chat.is_forum === true
  if (isForum && !sent) return undefined
  const threadId = sent?.threadId === undefined ? undefined : Number(sent.threadId)
  const thread = threadId === undefined ? {} : { message_thread_id: threadId, is_topic_message: true }
  return { ...message, ...thread } as Message
}
