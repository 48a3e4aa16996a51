// `/api/tokens` and `/api/audit`: tokens with scopes, and who did what.
import { z } from "zod"
import { readRange } from "../../budget/index.ts"
import { type Route, about, given, parse, parseBody } from "../route.ts"
import { scopes } from "./contract.ts"

const name = z
  .string()
  .trim()
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N} ._@+-]{0,58}[\p{L}\p{N}])?$/u, "must be 1 to 60 letters, digits and ._@+-")
const creation = z.strictObject({
  name,
  scopes: z.array(z.enum(scopes)).min(1, `needs at least one of ${scopes.join(", ")}`),
  expires: z.string().max(60).optional(),
})
const revocation = z.strictObject({ token: z.string().trim().min(1).max(60) })
const time = z.string().trim().min(1).max(50)
const auditQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  since: time.default("1d"),
  until: time.optional(),
  action: z
    .string()
    .trim()
    .regex(/^[a-z]{1,30}(\.[a-z-]{1,30})?$/, "must be a name such as token.create, or its first word")
    .optional(),
})

export const accessRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/tokens",
    handle: async ({ tokens }) => ({ body: { tokens: tokens.list() } }),
  },
  {
    method: "POST",
    path: "/api/tokens",
    async handle({ tokens }, context) {
      const wanted = await parseBody(creation, context)
      about(context, wanted.name)
      return { body: await tokens.create(wanted), shows: "secret" }
    },
  },
  {
    method: "POST",
    path: "/api/tokens/revoke",
    async handle({ tokens }, context) {
      const { token } = await parseBody(revocation, context)
      // Not what was typed before it is known to be a name: it could be a secret.
      const revoked = await tokens.revoke(token)
      about(context, revoked.name)
      return { body: revoked }
    },
  },
  {
    method: "GET",
    path: "/api/audit",
    async handle({ audit, clock }, context) {
      const { limit, action, ...texts } = given(parse(auditQuery, context.req.query()))
      // Days as the host counts them: whoever asks sits at its clock.
      const place = { now: clock.now(), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
      const range = readRange(texts, place)
      await audit.flush()
      const items = audit.read({ ...range, limit: limit + 1, ...(action === undefined ? {} : { action }) })
      return { body: { ...range, items: items.slice(0, limit), more: items.length > limit } }
    },
  },
]
