// Signing in to the page, and what it is told about itself.
import { z } from "zod"
import { define, nothing } from "./endpoint.ts"

export const scopeNames = z.enum(["browser", "hooks", "status", "message", "admin"])

export const pageSession = z.object({
  id: z.string(),
  /** The browser, as people know it. */
  name: z.string(),
  scopes: z.array(scopeNames).readonly(),
  createdAt: z.number(),
  expiresAt: z.number(),
  lastUsedAt: z.number(),
})

export const pageEndpoints = define({
  "POST /api/page/links": {
    summary:
      "Makes a link that signs a browser in to the page, once and within five minutes, with the caller's own scopes",
    body: nothing,
    reply: z.object({
      url: z.string(),
      /** Addresses for other devices; empty where none would be let in. */
      others: z.array(z.string()),
      expiresAt: z.number(),
      scopes: z.array(scopeNames),
    }),
  },
  "GET /api/page/session": {
    summary: "Tells the page who it is signed in as, and what it may do",
    reply: z.object({
      /** Null where a token asks. */
      session: pageSession.nullable(),
      scopes: z.array(scopeNames),
      version: z.string(),
      now: z.number(),
    }),
  },
  "POST /api/page/leave": {
    summary: "Signs this browser out",
    body: nothing,
    reply: z.object({}),
  },
})
