// The routes of `/api/sessions`. A key stands in the path, encoded; what is asked stands in the query.
import { z } from "zod"
import { type Route, given, parse, parseBody } from "./route.ts"

const limit = z.coerce.number().int().min(1).max(500).default(50)
const id = z.coerce.number().int().min(1).optional()
const word = z.string().trim().min(1).max(400)
const keyParameter = z.object({ key: word })
const listQuery = z.object({ limit, before: id, agent: word.optional() })
const searchQuery = z.object({
  text: z.string().trim().min(1).max(1_000),
  limit,
  before: id,
  session: word.optional(),
  agent: word.optional(),
})
const transcriptQuery = z.object({
  limit,
  after: z.coerce.number().int().min(0).optional(),
  last: z.enum(["true", "false", "1", "0"]).default("false"),
  conversation: word.optional(),
})
const compaction = z.strictObject({ instructions: z.string().trim().max(1_000).optional() })
const nothing = z.strictObject({})

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
    path: "/api/sessions/:key",
    handle: async ({ actions }, context) => ({ body: actions.sessions.read(keyOf(context)) }),
  },
  {
    method: "GET",
    path: "/api/sessions/:key/messages",
    async handle({ actions }, context) {
      const { last, ...query } = parse(transcriptQuery, context.req.query())
      const wanted = given({ ...query, last: last === "true" || last === "1" })
      return { body: actions.sessions.transcript(keyOf(context), wanted) }
    },
  },
  {
    method: "POST",
    path: "/api/sessions/:key/compact",
    async handle({ actions }, context) {
      const { instructions } = await parseBody(compaction, context)
      return { status: 202, body: await actions.sessions.compact(keyOf(context), instructions) }
    },
  },
  {
    method: "POST",
    path: "/api/sessions/:key/delete",
    async handle({ actions }, context) {
      await parseBody(nothing, context)
      return { body: await actions.sessions.remove(keyOf(context)) }
    },
  },
]

function keyOf(context: Parameters<Route["handle"]>[1]): string {
  return parse(keyParameter, context.req.param()).key.toLowerCase()
}
