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
  })
  .prefault({})
  .meta({ description: "Where the durable state is kept." })

export type StorageConfig = z.infer<typeof storageSchema>
