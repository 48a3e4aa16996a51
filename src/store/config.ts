// The keys of `storage.*`: where the durable state is kept.
import { z } from "zod"

const schemes = new Set(["sqlite:", "file:", "postgres:", "postgresql:"])

export const storageSchema = z
  .strictObject({
    url: z
      .string()
      .refine((text) => URL.canParse(text) && schemes.has(new URL(text).protocol), {
        error: "must be a URL that begins with sqlite:, file:, postgres: or postgresql:",
      })
      .optional()
      .meta({
        description: "Database of the gateway, as a URL. When unset: SQLite in the state folder.",
        secret: true,
        later: true,
      }),
    keepDays: z.int().min(1).max(36_500).default(30).meta({
      description: "Days for which ended runs are kept with their steps, what was sent, and events that were shown.",
    }),
    keepEventDays: z.int().min(1).max(36_500).default(90).meta({
      description: "Days for which an event waits for a turn that shows it; it is then removed unseen.",
    }),
  })
  .prefault({})
  .meta({ description: "Where the durable state is kept." })

export type StorageConfig = z.infer<typeof storageSchema>
