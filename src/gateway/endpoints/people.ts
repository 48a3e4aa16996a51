// Who may write to the agent: requests to be let in, those who were, owners, groups, and why.
import { z } from "zod"
import { define } from "./endpoint.ts"

const name = z.string().trim().min(1).max(200)
/** Ids are strings; a whole number is what people type. */
export const platformId = z.union([name, z.int().transform(String)], { error: "must be a string or a whole number" })
const onChannel = z.object({ channel: z.string().max(100).toLowerCase() })
const approval = z.strictObject({ code: name, account: name.optional(), notify: z.boolean().optional() })
const flag = z.enum(["true", "false", "1", "0"])

export const pairingRequest = z.object({
  senderId: z.string(),
  /** Who it is, as the platform says. */
  label: z.string(),
  account: z.string(),
  code: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** With how many others they would share one conversation with the agent. */
  sharesWith: z.number(),
})

export const pairedPerson = z.object({
  senderId: z.string(),
  label: z.string(),
  account: z.string(),
  approvedAt: z.number(),
  /** Empty where it is not known. */
  approvedBy: z.string(),
  /** Listed by id in `allowFrom` as well. */
  isOwner: z.boolean(),
})

const sender = z.object({ senderId: z.string(), label: z.string(), account: z.string() })
const channel = { channel: z.string() }
const verdict = z.enum(["accept", "pair", "drop"])

export const accessAnswer = z.object({
  channel: z.string(),
  account: z.string(),
  chat: z.string(),
  user: z.string(),
  topic: z.string().optional(),
  outcome: verdict,
  /** Name of the rule that decided, and the same as a sentence. */
  rule: z.string(),
  reason: z.string(),
  /** Key of the configuration that decided, or that would have to change. */
  key: z.string().optional(),
  origin: z.string().optional(),
  trusted: z.boolean().optional(),
  /** In groups: whether the bot has to be called, and what says so. */
  mention: z.object({ isRequired: z.boolean(), by: z.string() }).optional(),
  /** The rules that were asked, in order. */
  steps: z.array(z.object({ rule: z.string(), outcome: z.enum(["passed", "accept", "pair", "drop"]) })),
  notes: z.array(z.string()),
})

export const peopleEndpoints = define({
  "GET /api/people": {
    summary: "Tells of all channels who asks to be let in, who was, who is an owner, and which groups there are",
    reply: z.object({
      /** Where somebody can write, for questions. */
      accounts: z.array(z.object({ ...channel, account: z.string() })),
      requests: z.array(pairingRequest.extend(channel)),
      allowed: z.array(pairedPerson.extend(channel)),
      owners: z.array(
        z.object({
          ...channel,
          account: z.string(),
          /** As it is listed. */
          entry: z.string(),
          /** Whom it stands for; null while nobody has written under a listed name. */
          senderId: z.string().nullable(),
          label: z.string().nullable(),
          /** Key of the configuration that lists it. */
          key: z.string(),
        }),
      ),
      groups: z.array(
        z.object({
          ...channel,
          account: z.string(),
          chatId: z.string(),
          /** Whether the bot is in it, as far as is known. */
          isMember: z.boolean(),
          /** What somebody whom no list names meets there. */
          stranger: accessAnswer.pick({ outcome: true, reason: true, key: true, mention: true }),
        }),
      ),
      /** Ids of the people who share one conversation with the agent with somebody else. */
      shared: z.array(z.string()),
    }),
  },
  "GET /api/pairing/:channel": {
    summary: "Lists who asks to be let in, and who was",
    params: onChannel,
    query: z.object({ account: z.string().trim().min(1).max(100).optional() }),
    reply: z.object({
      requests: z.array(pairingRequest),
      allowed: z.array(pairedPerson),
      shared: z.array(z.string()),
    }),
  },
  "POST /api/pairing/:channel/approve": {
    summary: "Lets in whoever has this code; with `owner` lists them among the owners too",
    params: onChannel,
    body: approval.extend({ owner: z.boolean().optional() }),
    reply: sender.extend({
      isOwner: z.boolean(),
      /** What they wrote first is being answered. */
      isAnswered: z.boolean(),
      /** With how many others they share one conversation with the agent now. */
      sharesWith: z.number(),
    }),
  },
  "POST /api/pairing/:channel/deny": {
    summary: "Closes the request of this code or sender without letting anybody in",
    params: onChannel,
    body: approval,
    reply: sender,
  },
  "POST /api/pairing/:channel/revoke": {
    summary: "Lets somebody in no more; tells which lists of the configuration do so all the same",
    params: onChannel,
    body: z.strictObject({ senderId: platformId, account: name.optional() }),
    reply: z.object({ removed: z.boolean(), listedIn: z.array(z.string()) }),
  },
  "GET /api/channels/:channel/explain": {
    summary: "Tells whether a sender would be heard in a chat, and which rule and key say so",
    params: onChannel,
    query: z.object({
      account: name.optional(),
      chat: name,
      user: name.optional(),
      username: name.optional(),
      topic: name.optional(),
      channelPost: flag.optional(),
    }),
    reply: accessAnswer,
  },
  "POST /api/channels/:channel/unpin": {
    summary: "Forgets whom a listed @name stands for: the next sender under it is the one",
    params: onChannel,
    body: z.strictObject({ name, account: name.optional() }),
    reply: z.object({ accounts: z.array(z.string()) }),
  },
})
