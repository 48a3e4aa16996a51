// Requests about profiles themselves: making, removing and resetting them.
import { z } from "zod"
import { cdpUrl, colour } from "../config.ts"

/** Also a folder below the state folder: no dots, no slashes, no dash at its beginning. */
export const profileName = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be lower-case letters, digits and dashes, at most 64, the first no dash")

/** May hold `${NAME}`, which is written as it is: the configuration puts the variable in, and is checked with it. */
const writtenCdpUrl = z.union([cdpUrl, z.string().regex(/\$\{\w+\}/)], {
  error: "must be an http, https, ws or wss URL, or hold a variable as ${NAME}",
})

export const createProfileRequest = z.object({
  name: profileName,
  color: colour.optional().describe("Default: one that no other profile has."),
  cdpUrl: writtenCdpUrl
    .optional()
    .describe("Makes a remote profile. May hold `${NAME}` for a variable of the environment."),
  driver: z
    .enum(["managed", "relay", "extension", "existing"])
    .default("managed")
    .describe(
      "`relay` (or `extension`): tabs attached by the extension's button. `existing`: the person's running browser.",
    ),
})

export const deleteProfileRequest = z.object({ name: profileName })

export type CreateProfileRequest = z.infer<typeof createProfileRequest>
