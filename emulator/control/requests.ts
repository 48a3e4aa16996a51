// Arguments of the control API, one schema a method: the HTTP form parses with them, the in-process form takes their types.
import { z } from "zod"

const id = z.number().int()
/** Which bot; default: the first one. */
const botId = id.optional()
/** Where; default: the private chat of the user and the bot. */
const chatId = id.optional()
const userId = id
const bytes = z.union([
  z.instanceof(Uint8Array),
  z.base64().transform((text): Uint8Array => Buffer.from(text, "base64")),
])
const place = { userId, chatId, botId, threadId: id.optional(), replyTo: id.optional() }
const entities = z.array(z.looseObject({ type: z.string(), offset: id, length: id })).optional()
const memberStatus = z.enum(["creator", "administrator", "member", "restricted", "left", "kicked"])
const mediaKind = z.enum(["photo", "document", "audio", "voice", "video", "video_note", "animation", "sticker"])
/** Text that must occur, or a regular expression. */
const match = z.union([
  z.string(),
  z.instanceof(RegExp),
  z
    .object({ pattern: z.string(), flags: z.string().optional() })
    .transform((given) => new RegExp(given.pattern, given.flags)),
])
const timeoutMs = z.number().int().min(0).max(600_000).optional()

export const requests = {
  addBot: z.strictObject({
    token: z
      .string()
      .regex(/^[1-9]\d*:[\w-]+$/)
      .optional(),
    username: z.string().optional(),
    firstName: z.string().optional(),
    privateTopics: z.boolean().optional(),
    privacy: z.boolean().optional(),
  }),
  addUser: z.strictObject({
    id: id.positive().optional(),
    firstName: z.string().optional(),
    lastName: z.string().optional(),
    username: z.string().optional(),
    languageCode: z.string().optional(),
    isPremium: z.boolean().optional(),
  }),
  setDeactivated: z.strictObject({ userId, deactivated: z.boolean().optional() }),
  addChat: z.strictObject({
    type: z.enum(["group", "supergroup", "channel"]),
    id: id.negative().optional(),
    title: z.string().optional(),
    username: z.string().optional(),
    forum: z.boolean().optional(),
    members: z.array(userId).optional(),
    botStatus: memberStatus.optional(),
    botId,
  }),
  setChat: z.strictObject({ chatId: id, deleted: z.boolean().optional(), canSend: z.boolean().optional() }),
  setMember: z.strictObject({ chatId: id, userId, status: memberStatus, by: userId.optional() }),
  migrate: z.strictObject({ chatId: id }),
  addTopic: z.strictObject({ userId, chatId, botId, name: z.string() }),
  setTopic: z.strictObject({
    chatId: id,
    threadId: id,
    botId,
    closed: z.boolean().optional(),
    deleted: z.boolean().optional(),
  }),
  sendText: z.strictObject({ ...place, text: z.string(), entities }),
  sendMedia: z.strictObject({
    ...place,
    kind: mediaKind,
    data: bytes,
    name: z.string().optional(),
    mimeType: z.string().optional(),
    caption: z.string().optional(),
    emoji: z.string().optional(),
    setName: z.string().optional(),
    duration: z.number().optional(),
    albumId: z.string().optional(),
  }),
  sendRaw: z.strictObject({ ...place, message: z.record(z.string(), z.unknown()) }),
  editText: z.strictObject({ userId, chatId, botId, messageId: id, text: z.string(), entities }),
  deleteMessages: z.strictObject({ userId, chatId, botId, messageIds: z.array(id).min(1) }),
  click: z.strictObject({
    userId,
    chatId,
    botId,
    messageId: id,
    data: z.string().optional(),
    text: z.string().optional(),
  }),
  react: z.strictObject({ userId, chatId, botId, messageId: id, emoji: z.array(z.string()) }),
  block: z.strictObject({ userId, botId, blocked: z.boolean().optional() }),
  stopDraft: z.strictObject({ userId, botId, draftId: id, threadId: id.optional() }),
  injectUpdate: z.strictObject({ botId, update: z.record(z.string(), z.unknown()), lane: z.string().optional() }),
  messages: z.strictObject({
    chatId: id,
    botId,
    after: id.optional(),
    before: id.optional(),
    limit: z.number().int().positive().optional(),
  }),
  topics: z.strictObject({ chatId: id, botId }),
  members: z.strictObject({ chatId: id }),
  drafts: z.strictObject({ chatId: id, botId }),
  actions: z.strictObject({ chatId: id, botId }),
  reactions: z.strictObject({ chatId: id, botId, messageId: id }),
  chatReactions: z.strictObject({ chatId: id, botId }),
  commands: z.strictObject({
    botId,
    scope: z.record(z.string(), z.unknown()).optional(),
    languageCode: z.string().optional(),
  }),
  menu: z.strictObject({ userId, chatId, botId }),
  calls: z.strictObject({ method: z.string().optional(), chatId, botId, after: id.optional() }),
  clearCalls: z.strictObject({}),
  updates: z.strictObject({ botId }),
  events: z.strictObject({ after: id.optional(), timeoutMs }),
  waitForMessage: z.strictObject({
    chatId: id,
    botId,
    from: z.enum(["bot", "user"]).optional(),
    match: match.optional(),
    after: id.optional(),
    timeoutMs,
  }),
  waitForCall: z.strictObject({
    method: z.string().optional(),
    chatId,
    botId,
    after: id.optional(),
    phase: z.enum(["started", "finished"]).optional(),
    timeoutMs,
  }),
  fault: z.strictObject({
    kind: z.enum(["status", "html", "429", "hang", "cut", "cut-after-accept", "cut-body", "slow"]),
    method: z.string().optional(),
    chatId,
    skip: z.number().int().min(0).optional(),
    times: z.number().int().min(0).optional(),
    status: z.number().int().min(400).max(599).optional(),
    description: z.string().optional(),
    retryAfter: z.number().min(0).optional(),
    delayMs: z.number().min(0).optional(),
  }),
  faults: z.strictObject({}),
  clearFaults: z.strictObject({ id: id.optional() }),
  duplicateUpdates: z.strictObject({ botId, count: z.number().int().positive() }),
  jumpUpdateId: z.strictObject({ botId, to: id.positive().optional() }),
  advanceClock: z.strictObject({ ms: z.number().min(0) }),
  restart: z.strictObject({ downMs: z.number().min(0).optional() }),
  revokeToken: z.strictObject({ botId, revoked: z.boolean().optional() }),
  bots: z.strictObject({}),
  users: z.strictObject({}),
  chats: z.strictObject({ botId }),
} as const

export type Requests = { [Name in keyof typeof requests]: z.input<(typeof requests)[Name]> }
/** The same after parsing: patterns are regular expressions, file contents are bytes. */
export type ParsedRequests = { [Name in keyof typeof requests]: z.output<(typeof requests)[Name]> }
