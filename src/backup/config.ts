// The keys of `backup.*`: whether the gateway backs itself up, how many of these backups are kept, and where.
import { z } from "zod"
import { durationMs } from "../kernel/duration.ts"

/** Below this the gateway would do little else. */
const leastEveryMs = 60_000

export const backupSchema = z
  .strictObject({
    every: z
      .union([z.string(), z.number().min(0)])
      .refine(isSchedule, { error: "must be a duration of at least a minute, such as 24h; 0 switches off" })
      .default("0")
      .meta({
        description:
          "Time between two backups that the gateway makes by itself, such as `24h`; a bare number counts minutes; `0` switches off.",
      }),
    keep: z.int().min(1).max(10_000).default(7).meta({
      description:
        "How many of the backups that the gateway made by itself are kept; older ones are removed once a newer one has been verified. Those made with `svc backup create` stay.",
    }),
    folder: z.string().trim().min(1).optional().meta({
      description:
        "Where backups are put; a relative path is one in the state folder. When unset: `backups` in the state folder, which does not outlive its disk.",
    }),
  })
  .prefault({})
  .meta({ description: "Backups of the state folder." })

export type BackupConfig = z.infer<typeof backupSchema>

function isSchedule(value: string | number): boolean {
  const ms = durationMs(value)
  return ms === 0 || (ms !== undefined && ms >= leastEveryMs)
}
