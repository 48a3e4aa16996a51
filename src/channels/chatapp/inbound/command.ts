// Is a message a command? -> may its sender use it? -> a job of its own. Only what somebody has typed here and now: no
// forwarded words, no captions, nothing that another bot has put into somebody's mouth.
import type { Message, Update } from "grammy/types"
import type { NewJob } from "../../../store/index.ts"
import {
  type ChatCommand,
  type CommandCall,
  afterResetWord,
  commandJob,
  findCommand,
  isStopWord,
  mayUse,
  readCommand,
} from "../../commands/index.ts"
import type { AccessDecision, Sender } from "../../access.ts"
import { askerOf } from "./access.ts"
import { groupSession } from "./conversation.ts"
import type { Place } from "./place.ts"
import { isDirect } from "./place.ts"
import { type PlanContext, type Planned, entryOf, skip } from "./planned.ts"

export interface Speaker {
  place: Place
  sender: Sender
  decision: Extract<AccessDecision, { kind: "accept" }>
}

export type PlannedCommand =
  | { kind: "planned"; planned: Planned }
  /** A new session first, then the rest as a message. */
  | { kind: "first"; job: NewJob; message: Message }

/** Undefined: it is an ordinary message. */
export function planCommand(
  update: Update,
  message: Message,
  speaker: Speaker,
  context: PlanContext,
): PlannedCommand | undefined {
  const { text } = message
  if (text === undefined || !isTyped(message)) return undefined
  const { settings, botName } = context
  const read = readCommand(text, { botName })
  if (read.kind === "other-bot") {
    // Until our own name is known nobody can say whose it is; in a private chat it can only be ours.
    if (botName === undefined && isDirect(message.chat)) return undefined
    return { kind: "planned", planned: skip(update, context, "other-bot", facts(message)) }
  }
  const command = read.kind === "command" ? findCommand(read.name) : undefined
  if (command && read.kind === "command") {
    if (!settings.commands.text && !isNative(message, settings.commands.native)) return undefined
    return useCommand(update, message, { command, args: read.args, line: read.line }, speaker, context)
  }
  if (!settings.commands.text || !speaker.decision.trusted) return undefined
  const rest = afterResetWord(text, settings.resetTriggers)
  const fresh = rest === undefined ? undefined : findCommand("new")
  if (fresh && rest !== undefined)
    return useCommand(update, message, { command: fresh, args: rest, line: "" }, speaker, context)
  const stop = isStop(message, text, speaker, context) ? findCommand("stop") : undefined
  return stop && useCommand(update, message, { command: stop, args: "", line: "" }, speaker, context)
}

/** The same for the command behind a button: whoever touches it needs the right to use it now. */
export function planCommandClick(
  update: Update,
  message: Pick<Message, "chat" | "message_id">,
  value: string,
  speaker: Speaker,
  context: PlanContext,
): Planned {
  const read = readCommand(value, { botName: undefined })
  const command = read.kind === "command" ? findCommand(read.name) : undefined
  const isAllowed = command !== undefined && mayUseHere(command, speaker, context)
  if (read.kind !== "command" || !isAllowed) {
    return skip(update, context, "command-refused", { ...facts(message), sender: speaker.sender.id })
  }
  return accept(update, message, command, callOf(command, read.args, speaker), context)
}

interface Used {
  command: ChatCommand
  args: string
  line: string
}

function useCommand(
  update: Update,
  message: Message,
  { command, args, line }: Used,
  speaker: Speaker,
  context: PlanContext,
): PlannedCommand {
  if (!mayUseHere(command, speaker, context) && !command.tellsRefused) {
    const seen = { ...facts(message), sender: speaker.sender.id }
    return { kind: "planned", planned: skip(update, context, "command-refused", seen) }
  }
  if (command.name !== "new" && command.name !== "reset") {
    const call = callOf(command, command.takesLines ? args : line, speaker)
    return { kind: "planned", planned: accept(update, message, command, call, context) }
  }
  const [word = ""] = args.split(/\s/, 1)
  const model = word !== "" && context.look.isModel(word) ? word : ""
  const rest = args.slice(model.length).trim()
  const call = callOf(command, model, speaker)
  if (rest === "") return { kind: "planned", planned: accept(update, message, command, call, context) }
  return { kind: "first", job: commandJob(context.ids.uuid(), command, call), message: endOf(message, rest) }
}

function callOf(command: ChatCommand, args: string, { place, sender, decision }: Speaker): CommandCall {
  return {
    command: command.name,
    args,
    agentId: place.agentId,
    // What holds for a group holds for all of its people, and for no other group.
    sessionKey: command.where === "group" ? groupSession(place) : place.sessionKey,
    route: place.route,
    sender: askerOf(sender, decision),
  }
}

function accept(
  update: Update,
  message: Pick<Message, "chat" | "message_id">,
  command: ChatCommand,
  call: CommandCall,
  context: PlanContext,
): Planned {
  const { route, sessionKey, sender } = call
  const entry = entryOf(update, context, { ...facts(message), command: command.name, sender: sender.id })
  entry.jobs = [commandJob(context.ids.uuid(), command, call)]
  return { kind: "accepted", entry, route, sessionKey, remember: sender.isAuthorised && isDirect(message.chat) }
}

function mayUseHere(command: ChatCommand, { decision }: Speaker, { settings }: PlanContext): boolean {
  return mayUse(command, { origin: decision.origin, isAuthorised: decision.trusted }, settings.commands)
}

function isTyped(message: Message): boolean {
  return message.forward_origin === undefined && message.via_bot === undefined && !message.is_automatic_forward
}

/** The platform marks what its menu knows, and everything else that has the form of a command. */
function isNative(message: Message, native: "auto" | "on" | "off"): boolean {
  if (native === "off") return false
  return message.entities?.some((entity) => entity.type === "bot_command" && entity.offset === 0) ?? false
}

/** In a group such a word is mostly meant for people: there it has to answer the bot. */
function isStop(message: Message, text: string, { place }: Speaker, { botId, look }: PlanContext): boolean {
  if (!isStopWord(text)) return false
  const answersBot = String(message.reply_to_message?.from?.id) === botId
  return (isDirect(message.chat) || answersBot) && look.isTurnRunning(place.sessionKey)
}

/** The message from where the rest of its text begins. */
function endOf(message: Message, rest: string): Message {
  const text = message.text ?? ""
  const start = text.trimEnd().length - rest.length
  const entities = message.entities
    ?.filter((entity) => entity.offset >= start)
    .map((entity) => ({ ...entity, offset: entity.offset - start }))
  const { entities: _all, ...others } = message
  return { ...others, text: rest, ...(entities && entities.length > 0 ? { entities } : {}) } as Message
}

function facts(message: Pick<Message, "chat" | "message_id">) {
  return { kind: "command", chat: String(message.chat.id), message: message.message_id }
}
