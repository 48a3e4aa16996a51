// The routes of `svc agent`: a message in, what has come of it, and its end.
import { z } from "zod"
import { type Route, about, given, parse, parseBody } from "./route.ts"

const name = z.string().trim().min(1).max(400)
const message = z.strictObject({
  id: z.string().regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 printable ASCII characters without spaces"),
  message: z.string().refine((text) => text.trim() !== "", "is empty"),
  session: name.optional(),
  agent: name.optional(),
  context: z.string().min(1).max(20_000, "is longer than 20,000 characters").optional(),
  pictures: z.array(z.string().min(1).max(4_096)).max(10, "holds more than ten").optional(),
})
const following = z.object({
  stream: z.string().max(100).optional(),
  after: z.coerce.number().int().min(0).default(0),
  waitSeconds: z.coerce.number().min(0).max(30).default(0),
})
const run = z.object({ runId: z.string().trim().min(1).max(200) })
const nothing = z.strictObject({})

export const terminalRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/api/agent",
    async handle({ actions }, context) {
      const input = given(await parseBody(message, context))
      about(context, input.agent, input.session)
      return { status: 202, body: await actions.terminal.accept(input) }
    },
  },
  {
    method: "GET",
    path: "/api/agent/:runId",
    async handle({ actions }, context) {
      const wanted = given(parse(following, context.req.query()))
      const { runId } = parse(run, context.req.param())
      return { body: await actions.terminal.follow(runId, wanted, context.req.raw.signal) }
    },
  },
  {
    method: "POST",
    path: "/api/agent/:runId/stop",
    async handle({ actions }, context) {
      await parseBody(nothing, context)
      return { body: await actions.terminal.stop(parse(run, context.req.param()).runId) }
    },
  },
]
