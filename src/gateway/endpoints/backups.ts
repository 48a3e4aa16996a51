// Backups of the state folder.
import { z } from "zod"
import { define, nothing } from "./endpoint.ts"

export const backupEntry = z.object({
  /** Absolute path. */
  archive: z.string(),
  bytes: z.number(),
  createdAt: z.number(),
  scheduled: z.boolean(),
  version: z.string().nullable(),
  files: z.number().nullable(),
  /** Why the archive cannot be read. */
  problem: z.string().optional(),
})

export const backupEndpoints = define({
  "GET /api/backups": {
    summary: "Lists the newest backups of the backup folder, and tells how the making of them stands",
    query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    reply: z.object({
      folder: z.string(),
      /** 0: none are made by themselves. */
      everyMs: z.number(),
      running: z.boolean(),
      failure: z.object({ at: z.number(), error: z.string() }).nullable(),
      backups: z.array(backupEntry),
      /** Whether there are more than were asked for. */
      more: z.boolean(),
    }),
  },
  "POST /api/backups": {
    summary: "Begins to make a backup; the list tells when it is done",
    body: nothing,
    reply: z.object({}),
  },
})
