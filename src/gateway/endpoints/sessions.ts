// Conversations by their keys. Keys have characters that no path may have: they stand in the query, or in the body.
import { z } from "zod"
import { before, define, limit, pageOf, word } from "./endpoint.ts"

const key = word.transform((text) => text.toLowerCase())
const ofSession = z.object({ key })

export const sessionSummary = z.object({
  key: z.string(),
  agentId: z.string(),
  /** Of the conversation that goes on. */
  sessionId: z.string(),
  kind: z.enum(["main", "dm", "guest", "group", "thread", "hook", "other"]),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Of that conversation, and about how many tokens they are. */
  messages: z.number(),
  tokens: z.number(),
  /** Where it was last heard from. */
  lastRoute: z
    .object({ channel: z.string(), account: z.string(), chatId: z.string(), threadId: z.string().optional() })
    .nullable(),
})

const conversation = z.object({
  sessionId: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  messages: z.number(),
})

const transcriptMessage = z.object({
  id: z.number(),
  sessionId: z.string(),
  at: z.number(),
  runId: z.string().nullable(),
  /** Whose words it holds, or was written under. */
  origin: z.string(),
  trusted: z.boolean(),
  /** It stands for what came before it, which is all still there. */
  isSummary: z.boolean(),
  /** As models are given it. */
  message: z.unknown(),
})

const searchHit = z.object({
  id: z.number(),
  key: z.string(),
  agentId: z.string(),
  sessionId: z.string(),
  at: z.number(),
  role: z.enum(["user", "assistant", "tool"]),
  origin: z.string(),
  trusted: z.boolean(),
  /** Some words around the first that was found. */
  excerpt: z.string(),
})

export const sessionEndpoints = define({
  "GET /api/sessions": {
    summary: "Lists sessions, the last used first; `before` is a time",
    query: z.object({ limit, before, agent: word.optional() }),
    reply: pageOf(sessionSummary),
  },
  "GET /api/search": {
    summary: "Finds words in all transcripts, newest first",
    query: z.object({
      text: z.string().trim().min(1).max(1_000),
      limit,
      before,
      session: word.optional(),
      agent: word.optional(),
    }),
    reply: pageOf(searchHit),
  },
  "GET /api/session": {
    summary: "Shows a session with its settings and its conversations",
    query: ofSession,
    reply: sessionSummary.extend({
      settings: z.object({
        model: z.string().optional(),
        thinking: z.string().optional(),
        reasoning: z.string().optional(),
        activation: z.string().optional(),
        queue: z.unknown().optional(),
      }),
      conversations: z.array(conversation),
    }),
  },
  "GET /api/session/messages": {
    summary: "Reads a transcript: what follows `after`, what stands before `before`, or the `last` messages",
    query: z.object({
      key,
      limit,
      after: z.coerce.number().int().min(0).optional(),
      before,
      last: z.enum(["true", "false", "1", "0"]).default("false"),
      /** One that is over, by the beginning of its id, or `all`; else the one that goes on. */
      conversation: word.optional(),
    }),
    /** Oldest first, whatever was asked; `next` is for `after`. */
    reply: pageOf(transcriptMessage),
  },
  "POST /api/session/compact": {
    summary: "Sums a conversation up, so that it takes less of the model's context",
    body: z.strictObject({ key, instructions: z.string().trim().max(1_000).optional() }),
    reply: z.object({ runId: z.string() }),
  },
  "POST /api/session/delete": {
    summary: "Removes a session with all its conversations",
    body: z.strictObject({ key }),
    reply: z.object({ conversations: z.number() }),
  },
})

/** No JSON, so no endpoint. */
export const exportQuery = z.object({
  key,
  format: z.enum(["jsonl", "markdown"]).default("markdown"),
  conversation: word.optional(),
})
