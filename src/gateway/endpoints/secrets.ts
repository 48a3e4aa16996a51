// Secrets that pages are filled with. Nothing here answers with a value.
import { z } from "zod"
import { define } from "./endpoint.ts"

const secretName = z
  .string()
  .trim()
  .regex(/^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/, "must be 1 to 64 lower-case letters, digits and ._-")

export const secretSummary = z.object({
  name: z.string(),
  /** Exact origins of the pages that it may be filled into. */
  origins: z.array(z.string()),
  source: z.enum(["stored", "op", "bw"]),
  /** Where the password manager has it. */
  reference: z.string().nullable(),
  /** Also into fields that show what they hold. */
  anyField: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
  lastUsedAt: z.number().nullable(),
})

export const secretEndpoints = define({
  "GET /api/secrets": {
    summary: "Lists the secrets, without their values",
    reply: z.object({ secrets: z.array(secretSummary) }),
  },
  "POST /api/secrets": {
    summary: "Keeps a secret, in place of one of the same name: a value, or where a password manager has it",
    body: z.strictObject({
      name: secretName,
      origins: z.array(z.string().max(300)).min(1).max(10),
      value: z.string().min(1).max(4_000).optional(),
      /** `op://vault/item/field` */
      op: z.string().trim().max(500).optional(),
      bw: z
        .strictObject({
          item: z.string().trim().max(200),
          field: z.enum(["password", "username", "totp"]).default("password"),
        })
        .optional(),
      anyField: z.boolean().default(false),
    }),
    reply: secretSummary,
  },
  "POST /api/secrets/remove": {
    summary: "Removes a secret",
    body: z.strictObject({ name: z.string().trim().min(1).max(64) }),
    reply: secretSummary,
  },
})
