// The page's own chat with the agent.
import { z } from "zod"
import { before, define, limit, pageOf } from "./endpoint.ts"

/** Key of a session, `main`, or a name of the page's own. */
const chat = z.string().trim().min(1).max(200)
const id = z.string().regex(/^[\x21-\x7e]{1,100}$/, "must be 1 to 100 printable ASCII characters without spaces")
const ref = z.string().min(1).max(100)

export const chatFile = z.object({
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number(),
  /** Browsers may show it as it is. */
  isPicture: z.boolean(),
  /** Why it is not there. */
  problem: z.string().optional(),
})

export const chatMessage = z.object({
  id: z.number(),
  chat: z.string(),
  /** The page's own id of what came in. */
  ref: z.string(),
  side: z.enum(["in", "out"]),
  runId: z.string().nullable(),
  /** Markdown. */
  text: z.string(),
  thinking: z.string().nullable(),
  files: z.array(chatFile),
  /** Rows of labels. */
  buttons: z.array(z.array(z.object({ text: z.string(), style: z.enum(["danger", "success", "primary"]).optional() }))),
  replyTo: z.string().nullable(),
  reaction: z.string().nullable(),
  createdAt: z.number(),
  editedAt: z.number().nullable(),
  isDeleted: z.boolean(),
})

/** An answer while it is written, from when its turn begins; also as an entry `draft` of the event stream. */
export const chatDraft = z.object({
  chat: z.string(),
  runId: z.string(),
  /** Changes when what was shown is void. */
  stream: z.string(),
  /** Where `text` belongs: so many characters of the stream are known before it. */
  at: z.number(),
  text: z.string(),
  thinking: z.string().optional(),
  isOver: z.literal(true).optional(),
})

const accepted = z.object({ chat: z.string(), runId: z.string(), isRepeat: z.literal(true).optional() })

export const chatEndpoints = define({
  "GET /api/chat": {
    summary: "Lists the conversations of the page's chat, the newest first, and the commands that can be typed there",
    query: z.object({ limit }),
    reply: z.object({
      agents: z.array(z.string()),
      chats: z.array(
        z.object({
          key: z.string(),
          agent: z.string(),
          /** How its first message begins; empty for none. */
          title: z.string(),
          preview: z.string(),
          lastId: z.number(),
          updatedAt: z.number().nullable(),
        }),
      ),
      hasMore: z.boolean(),
      /** What can be typed: a command, also with each of the words that may follow it. */
      commands: z.array(z.object({ words: z.string(), summary: z.string() })),
      maxFileBytes: z.number(),
    }),
  },
  "GET /api/chat/messages": {
    summary: "Lists the messages of a conversation, newest first, with what is being written and what was not sent",
    /** `after` gives those that came next, in place of the newest. */
    query: z.object({ chat, limit, before, after: before }),
    reply: pageOf(chatMessage).extend({
      drafts: z.array(chatDraft),
      unsent: z.array(
        z.object({
          delivery: z.number(),
          state: z.enum(["uncertain", "dead"]),
          error: z.string().nullable(),
          text: z.string(),
        }),
      ),
    }),
  },
  "POST /api/chat/messages": {
    summary: "Says something to the agent; the same id is taken in once, however often it comes",
    body: z.strictObject({
      id,
      chat,
      text: z.string().max(200_000),
      files: z
        .array(z.strictObject({ id: z.string().max(60), name: z.string().max(1_000) }))
        .max(10)
        .default([]),
      /** `ref` of the message that it answers. */
      replyTo: ref.optional(),
    }),
    reply: accepted,
  },
  "POST /api/chat/clicks": {
    summary: "Presses a button below a message",
    body: z.strictObject({
      id,
      chat,
      message: ref,
      row: z.int().min(0).max(100),
      column: z.int().min(0).max(20),
    }),
    reply: accepted,
  },
})
