// Tokens with scopes, browsers that have signed in, and who did what.
import { z } from "zod"
import { define } from "./endpoint.ts"
import { pageSession, scopeNames } from "./page.ts"

const name = z
  .string()
  .trim()
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N} ._@+-]{0,58}[\p{L}\p{N}])?$/u, "must be 1 to 60 letters, digits and ._@+-")
const time = z.string().trim().min(1).max(50)

export const tokenSummary = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(scopeNames),
  createdAt: z.number(),
  /** Null: never. */
  lastUsedAt: z.number().nullable(),
  /** Null: it does not. */
  expiresAt: z.number().nullable(),
  expired: z.boolean(),
})

export const accessEndpoints = define({
  "GET /api/tokens": {
    summary: "Lists the tokens with scopes, without the tokens themselves",
    reply: z.object({ tokens: z.array(tokenSummary) }),
  },
  "POST /api/tokens": {
    summary: "Makes a token, which is shown this once",
    body: z.strictObject({
      name,
      scopes: z.array(scopeNames).min(1, `needs at least one of ${scopeNames.options.join(", ")}`),
      /** `30d`, `12h`, or a moment; without it the token ends only when it is revoked. */
      expires: z.string().max(60).optional(),
    }),
    reply: tokenSummary.extend({ token: z.string() }),
  },
  "POST /api/tokens/revoke": {
    summary: "Ends a token by its id or name: it opens nothing from then on",
    body: z.strictObject({ token: z.string().trim().min(1).max(60) }),
    reply: tokenSummary,
  },
  "GET /api/page/sessions": {
    summary: "Lists the browsers that have signed in to the page",
    reply: z.object({ sessions: z.array(pageSession) }),
  },
  "POST /api/page/sessions/end": {
    summary: "Signs a browser out",
    body: z.strictObject({ id: z.string().trim().min(1).max(60) }),
    reply: z.object({}),
  },
  "GET /api/audit": {
    summary: "Tells who did what through which door, newest first",
    query: z.object({
      limit: z.coerce.number().int().min(1).max(500).default(50),
      since: time.default("1d"),
      until: time.optional(),
      /** `next` of the page before. */
      before: z.coerce.number().int().min(1).optional(),
      action: z
        .string()
        .trim()
        .regex(/^[a-z]{1,30}(\.[a-z-]{1,30})?$/, "must be a name such as token.create, or its first word")
        .optional(),
    }),
    reply: z.object({
      since: z.number(),
      until: z.number(),
      items: z.array(
        z.object({
          id: z.number(),
          /** Of a counted row the beginning of its hour. */
          at: z.number(),
          lastAt: z.number(),
          door: z.string(),
          who: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
          action: z.string(),
          target: z.string(),
          outcome: z.string(),
          count: z.number(),
        }),
      ),
      /** Whether the time holds more than were asked for. */
      more: z.boolean(),
      next: z.number().nullable(),
    }),
  },
})
