// Would this sender be heard here, and which key of the configuration says so? The same rules that decide messages,
// asked by the operator.
import type { Config } from "../../config/index.ts"
import { AppError } from "../../kernel/index.ts"
import { groupKey } from "../../sessions/keys.ts"
import { type AccessDecision, type Sender, directRules, groupRules, stripPrefixes, traceDecision } from "../access.ts"
import type { Activation } from "../activation.ts"
import type { AccessExplanation, AccessQuestion } from "../contract.ts"
import { type AccessFacts, type Asked, directQuestion, groupQuestion, placeSettings } from "./inbound/access.ts"
import { isServiceId } from "./inbound/principal.ts"
import { type AccountSettings, type Settings, channelName, idPrefixes, mainAccount } from "./settings.ts"

export interface ExplainFacts {
  config: () => Config
  settings: Settings
  /** What only a running gateway knows; undefined when it is asked without one. */
  running?: {
    paired: (account: string) => ReadonlySet<string>
    idOfName: (account: string, name: string) => string | undefined
    activationOf: (sessionKey: string) => Activation | undefined
    agentId: string
  }
}

/** Throws AppError `bad-request` or `not-found` for a question that makes no sense. */
export function explainAccess(question: AccessQuestion, facts: ExplainFacts): AccessExplanation {
  const { settings, running } = facts
  const account = question.account ?? mainAccount(settings.accounts())
  if (!settings.accounts().includes(account)) {
    throw new AppError("not-found", `There is no account ${JSON.stringify(account)}`, {
      hint: `Accounts: ${settings.accounts().join(", ")}`,
    })
  }
  const own = settings.account(account)
  const asked = readQuestion(question)
  const names: AccessFacts = {
    settings: own,
    paired: running?.paired(account) ?? new Set(),
    // A listed name that nobody has used yet is pinned to whoever writes under it first.
    namesOf: (id) =>
      [...own.listedNames].filter(
        (name) => (running?.idOfName(account, name) ?? (name === asked.sender.username ? id : undefined)) === id,
      ),
  }
  const isDirect = asked.chat.type === "private"
  const { decision, steps } = isDirect
    ? traceDecision(directRules, directQuestion(asked, names))
    : traceDecision(groupRules, groupQuestion(asked, names))
  const key = keyOf(decision, asked, own, facts.config())
  return {
    channel: channelName,
    account,
    chat: String(asked.chat.id),
    user: asked.sender.id,
    ...(asked.topicId === undefined ? {} : { topic: asked.topicId }),
    outcome: decision.kind,
    rule: decision.rule,
    reason: reasons[decision.rule],
    ...(key === undefined ? {} : { key }),
    ...(decision.kind === "accept" ? { origin: decision.origin, trusted: decision.trusted } : {}),
    ...(decision.kind === "accept" && !isDirect ? { mention: mentionOf(asked, own, account, facts) } : {}),
    steps,
    notes: notesOf(own, running !== undefined),
  }
}

function readQuestion({ chat, user, username, topic, isChannelPost }: AccessQuestion): Asked {
  const chatId = readId(chat, "chat")
  const id = readId(user ?? chat, "user")
  const name = username?.trim().replace(/^@/, "").toLowerCase()
  const sender: Sender = {
    id,
    ...(name ? { username: name } : {}),
    ...(isServiceId(id) ? { isService: true } : {}),
  }
  if (!chatId.startsWith("-")) {
    if (id === chatId && topic === undefined) return { chat: { id: chatId, type: "private" }, sender }
    throw new AppError("bad-request", "The id of a private chat is that of its user", {
      hint: "Groups and channels have negative ids; topics are theirs",
    })
  }
  if (topic !== undefined && !/^[1-9]\d{0,15}$/.test(topic))
    throw new AppError("bad-request", "The topic is no thread id")
  const type = isChannelPost ? "channel" : "supergroup"
  return { chat: { id: chatId, type }, sender, ...(topic === undefined ? {} : { topicId: topic }) }
}

function readId(text: string, what: string): string {
  const id = stripPrefixes(text.trim(), idPrefixes)
  if (/^-?[1-9]\d{0,18}$/.test(id)) return id
  throw new AppError("bad-request", `The ${what} must be a numeric id, not ${JSON.stringify(text)}`, {
    hint: "Ids stand in the log lines of skipped messages; a name is given with --username",
  })
}

const reasons: Record<AccessDecision["rule"], string> = {
  "listed-id": "the sender's id is listed",
  "listed-name": "the sender's id is the one that a listed name is pinned to",
  paired: "the sender was let in by pairing",
  everybody: "the list holds *, which lets in everybody",
  "group-open": "the group policy is open",
  pairing: "the sender is unknown and is told a pairing code",
  bot: "other bots are never answered",
  "service-account": "this account belongs to the platform and stands for nobody",
  disabled: "direct messages are switched off",
  "not-listed": "the sender is neither listed nor paired",
  "group-policy-disabled": "group messages are switched off",
  "group-not-listed": "other groups are listed, this one is not",
  "channel-not-listed": "a channel is heard only when its own id is listed",
  "group-disabled": "the group is switched off",
  "topic-disabled": "the topic is switched off",
  "sender-not-listed": "the list that holds here does not name the sender",
}

/** The key that decided, or would have to be changed for another decision. */
function keyOf(decision: AccessDecision, asked: Asked, settings: AccountSettings, config: Config): string | undefined {
  const place = placeSettings(settings, asked)
  const at = (field: "dmPolicy" | "allowFrom" | "groupPolicy" | "groupAllowFrom" | "groups") =>
    sectionOf(config, settings.accountId, field)
  const senders = place?.sources.allowFrom
    ? `${at("groups")}.${place.sources.allowFrom}`
    : `${at("groupAllowFrom")}.groupAllowFrom`
  switch (decision.rule) {
    case "disabled":
      return `${at("dmPolicy")}.dmPolicy`
    case "group-policy-disabled":
    case "group-open":
      return `${at("groupPolicy")}.groupPolicy`
    case "group-not-listed":
    case "channel-not-listed":
      return `${at("groups")}.groups[${JSON.stringify(String(asked.chat.id))}]`
    case "group-disabled":
    case "topic-disabled":
      return place?.sources.enabled && `${at("groups")}.${place.sources.enabled}`
    case "sender-not-listed":
      return senders
    case "listed-id":
    case "listed-name":
    case "everybody":
      return asked.chat.type === "private" ? `${at("allowFrom")}.allowFrom` : senders
    case "not-listed":
    case "pairing":
      return `${at("allowFrom")}.allowFrom`
    default:
      return undefined
  }
}

/** The account's own section where it sets the field, else the channel's. */
function sectionOf(
  config: Config,
  account: string,
  field: "dmPolicy" | "allowFrom" | "groupPolicy" | "groupAllowFrom" | "groups",
): string {
  const own = config.channels.chatapp.accounts[account]
  if (own?.[field] !== undefined) return `channels.${channelName}.accounts.${account}`
  if (
    field === "groupPolicy" &&
    config.channels.chatapp.groupPolicy === undefined &&
    config.channels.defaults.groupPolicy
  ) {
    return "channels.defaults"
  }
  return `channels.${channelName}`
}

function mentionOf(
  asked: Asked,
  settings: AccountSettings,
  account: string,
  { config, running }: ExplainFacts,
): NonNullable<AccessExplanation["mention"]> {
  const chatId = String(asked.chat.id)
  const agentId =
    settings.boundAgent({ chatKind: asked.chat.type, chatId, topicId: asked.topicId }) ?? running?.agentId ?? "main"
  const activation = running?.activationOf(groupKey(agentId, channelName, chatId, asked.topicId))
  if (activation) return { isRequired: activation === "mention", by: "/activation of the session" }
  const place = placeSettings(settings, asked)
  const source = place?.sources.requireMention
  const by = source === undefined ? "default" : `${sectionOf(config(), account, "groups")}.${source}`
  return { isRequired: place?.requireMention ?? true, by }
}

function notesOf(settings: AccountSettings, isRunning: boolean): string[] {
  const notes: string[] = []
  if (!settings.enabled) notes.push("the account is switched off")
  if (!isRunning) {
    notes.push(
      "no gateway runs: decided by the configuration file alone, without pairings, pinned names and /activation",
    )
  }
  return notes
}
