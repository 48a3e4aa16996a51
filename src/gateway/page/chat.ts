// `/api/chat/...`: the page's own chat. Files are no JSON: they come as they are, and go as what a browser saves unless
// they are pictures, so that nothing that somebody has sent ever runs here.
import type { Context } from "hono"
import { z } from "zod"
import { readBody } from "../../kernel/http/index.ts"
import { chatEndpoints } from "../endpoints/chat.ts"
import { routesOf } from "../endpoint-routes.ts"
import { type ApiOptions, type Env, type Route, about, given, parse } from "../route.ts"

const uploadTimeoutMs = 120_000
const fileOf = z.object({ message: z.coerce.number().int().min(1), n: z.coerce.number().int().min(0).max(100) })

export const chatRoutes: readonly Route[] = [
  ...routesOf(chatEndpoints, {
    "GET /api/chat": ({ actions }, { query }) => ({ body: actions.chat.overview(query.limit) }),
    "GET /api/chat/messages": ({ actions }, { query }) => ({ body: actions.chat.history(query.chat, query) }),
    async "POST /api/chat/messages"({ actions }, { body }, context) {
      about(context, body.chat)
      return { status: 202, body: await actions.chat.say(given(body)) }
    },
    async "POST /api/chat/clicks"({ actions }, { body }, context) {
      about(context, body.chat)
      return { status: 202, body: await actions.chat.click(body) }
    },
  }),
  {
    method: "POST",
    path: "/api/chat/files",
    async handle({ actions: { chat } }, context) {
      const limits = { maxBytes: chat.maxFileBytes(), timeoutMs: uploadTimeoutMs }
      const content = await readBody(context.env.incoming, limits)
      return { body: await chat.keepFile(content, context.req.header("content-type")) }
    },
  },
]

/** `/api/chat/messages/:message/files/:n` */
export function sendFile({ actions }: Pick<ApiOptions, "actions">, context: Context<Env>): Response {
  const { message, n } = parse(fileOf, context.req.param())
  const { name, mediaType, isShown, content } = actions.chat.readFile(message, n)
  return new Response(new Uint8Array(content), {
    headers: {
      "content-type": isShown ? mediaType : "application/octet-stream",
      "content-disposition": `${isShown ? "inline" : "attachment"}; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    },
  })
}
