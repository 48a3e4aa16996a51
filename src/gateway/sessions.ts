// The routes of sessions.
import type { Context } from "hono"
import { exportQuery, sessionEndpoints } from "./endpoints/sessions.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type ApiOptions, type Env, type Route, about, given, parse } from "./route.ts"

export const sessionRoutes: readonly Route[] = routesOf(sessionEndpoints, {
  "GET /api/sessions": ({ actions }, { query }) => ({ body: actions.sessions.list(given(query)) }),
  "GET /api/search"({ actions }, { query: { session, ...query } }) {
    return { body: actions.sessions.search(given({ ...query, key: session?.toLowerCase() })) }
  },
  "GET /api/session": ({ actions }, { query }) => ({ body: actions.sessions.read(query.key) }),
  "GET /api/session/messages"({ actions }, { query: { key, last, ...query } }) {
    const wanted = given({ ...query, last: last === "true" || last === "1" })
    return { body: actions.sessions.transcript(key, wanted) }
  },
  async "POST /api/session/compact"({ actions }, { body }, context) {
    about(context, body.key)
    return { status: 202, body: await actions.sessions.compact(body.key, body.instructions) }
  },
  async "POST /api/session/delete"({ actions }, { body }, context) {
    about(context, body.key)
    return { body: await actions.sessions.remove(body.key) }
  },
})

const mediaTypes = { jsonl: "application/jsonl", markdown: "text/markdown; charset=utf-8" }

/** `/api/session/export`: a transcript as a file, written while it is read, so that it never stands in memory whole. */
export function exportSession({ actions, redactor }: ApiOptions, context: Context<Env>): Response {
  const { key, format, conversation } = parse(exportQuery, context.req.query())
  about(context, key)
  // What is wrong with the key is told before the first byte.
  const pieces = actions.sessions.export(key, given({ format, conversation }))
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(redactor.redact(value)))
    },
    cancel: () => void pieces.return?.(),
  })
  return new Response(body, {
    headers: { "content-type": mediaTypes[format], "content-disposition": "attachment" },
  })
}
