// The keys of `channels.web.*`: the chat of the gateway's own page.
import { z } from "zod"

export const webSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({
      description:
        "Whether the page has a chat with the agent. Whoever has signed in with the scope `admin` is the owner there.",
    }),
    mediaMaxMb: z.number().positive().max(100).default(20).meta({
      description: "Largest file in MB that the chat of the page takes and shows.",
    }),
    configWrites: z.boolean().default(true).meta({
      description: "Whether `/config set` and `/config unset` may be used there (`commands.config` has to be on too).",
    }),
  })
  .prefault({})
  .meta({ description: "The chat of the gateway's own page." })
