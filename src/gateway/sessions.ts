// The routes of sessions. Keys have characters that no path may have: they stand in the query, or in the body.
import { z } from "zod"
import { type Route, about, given, parse, parseBody } from "./route.ts"

const limit = z.coerce.number().int().min(1).max(500).default(50)
const id = z.coerce.number().int().min(1).optional()
const word = z.string().trim().min(1).max(400)
const key = word.transform((text) => text.toLowerCase())
const sessionQuery = z.object({ key })
const listQuery = z.object({ limit, before: id, agent: word.optional() })
const searchQuery = z.object({
  text: z.string().trim().min(1).max(1_000),
  limit,
  before: id,
  session: word.optional(),
  agent: word.optional(),
})
const transcriptQuery = z.object({
  key,
  limit,
  after: z.coerce.number().int().min(0).optional(),
  last: z.enum(["true", "false", "1", "0"]).default("false"),
  conversation: word.optional(),
})
const compaction = z.strictObject({ key, instructions: z.string().trim().max(1_000).optional() })
const removal = z.strictObject({ key })

export const sessionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/sessions",
    handle: async ({ actions }, context) => ({
      body: actions.sessions.list(given(parse(listQuery, context.req.query()))),
    }),
  },
  {
    method: "GET",
    path: "/api/search",
    async handle({ actions }, context) {
      const { session, ...query } = parse(searchQuery, context.req.query())
      return { body: actions.sessions.search(given({ ...query, key: session?.toLowerCase() })) }
    },
  },
  {
    method: "GET",
    path: "/api/session",
    handle: async ({ actions }, context) => ({
      body: actions.sessions.read(parse(sessionQuery, context.req.query()).key),
    }),
  },
  {
    method: "GET",
    path: "/api/session/messages",
    async handle({ actions }, context) {
      const { key: wantedKey, last, ...query } = parse(transcriptQuery, context.req.query())
      const wanted = given({ ...query, last: last === "true" || last === "1" })
      return { body: actions.sessions.transcript(wantedKey, wanted) }
    },
  },
  {
    method: "POST",
    path: "/api/session/compact",
    async handle({ actions }, context) {
      const wanted = await parseBody(compaction, context)
      about(context, wanted.key)
      return { status: 202, body: await actions.sessions.compact(wanted.key, wanted.instructions) }
    },
  },
  {
    method: "POST",
    path: "/api/session/delete",
    async handle({ actions }, context) {
      const wanted = await parseBody(removal, context)
      about(context, wanted.key)
      return { body: await actions.sessions.remove(wanted.key) }
    },
  },
]
