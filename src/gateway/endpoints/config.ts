// The configuration file as a form.
import { z } from "zod"
import { define } from "./endpoint.ts"

const key = z.string().trim().min(1).max(500)

/** `value` as it is; `text` is JSON5, or plain text where it is none; with neither the key is removed. */
const change = z
  .strictObject({ key, value: z.json().optional(), text: z.string().max(100_000).optional() })
  .refine(({ value, text }) => value === undefined || text === undefined, "value and text cannot stand together")
const changes = z.array(change).min(1).max(200)

export const configField = z.object({
  key: z.string(),
  /** `map`: entries of names of one's choice, with fields of their own. `json`: whatever it holds, as JSON5. */
  kind: z.enum(["text", "number", "choice", "list", "json", "map"]),
  choices: z.array(z.union([z.string(), z.boolean(), z.number()])).optional(),
  description: z.string(),
  /** In words. */
  default: z.string().optional(),
  /** What the files say, with placeholders as written. */
  written: z.json().optional(),
  /** What is in use, where it is more than what is written. */
  value: z.json().optional(),
  /** Where it is written. */
  place: z.object({ file: z.string(), line: z.number() }).optional(),
  /** Why it is changed in the file alone. */
  guarded: z.enum(["secret", "guarded"]).optional(),
  later: z.boolean().optional(),
})

const diff = z.object({
  file: z.string(),
  lines: z.array(z.object({ kind: z.enum(["same", "gone", "new", "skipped"]), text: z.string() })),
})

export const configEndpoints = define({
  "GET /api/config": {
    summary: "Tells where the configuration is, what is wrong with it, and its sections",
    reply: z.object({
      path: z.string(),
      /** `gateway.reload.mode`: what a change does to the running gateway. */
      mode: z.string(),
      /** What is wrong with the file; what was good before is in use meanwhile. */
      problems: z.array(z.string()),
      sections: z.array(z.object({ name: z.string(), description: z.string(), written: z.number() })),
    }),
  },
  "GET /api/config/fields": {
    summary: "Lists the keys of one section with what they may be, their values and where these come from; no secrets",
    query: z.object({ section: key, entry: key.optional() }),
    reply: z.object({ fields: z.array(configField) }),
  },
  "POST /api/config/check": {
    summary: "Checks changes of the configuration as a whole and shows what they would make of its files",
    body: z.strictObject({ changes }),
    reply: z.object({
      issues: z.array(z.object({ key: z.string(), message: z.string() })),
      files: z.array(diff),
      /** Of exactly this difference. */
      revision: z.string(),
    }),
  },
  "POST /api/config/save": {
    summary: "Writes changes of which a check has shown the difference; comments and placeholders stay",
    body: z.strictObject({ changes, revision: z.string().max(100) }),
    reply: z.object({
      files: z.array(z.string()),
      /** When it counts. */
      effect: z.enum(["now", "restart", "next-start"]),
    }),
  },
})
