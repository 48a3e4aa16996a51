// The keys of `gateway.page.*`: the page in the browser.
import { z } from "zod"

export const pageSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({
      description:
        "Whether the gateway serves its page under `/dashboard/`. Nobody gets in without a link of `svc dashboard`.",
    }),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        description:
          "Address under which browsers reach the gateway through a proxy, such as `https://svc.example.org`. `svc dashboard` makes links for it; with https the cookie is marked Secure. Its host belongs into `gateway.allowedHosts` too.",
      }),
    allowHttp: z.boolean().default(false).meta({
      description:
        "Lets other machines sign in over plain HTTP. Whoever is in the same network can then read the cookie and act as you: better put TLS in front.",
    }),
    sessionDays: z.int().min(1).max(365).default(30).meta({
      description: "Days that a sign-in lasts.",
    }),
  })
  .prefault({})
  .meta({ description: "The page that shows what happened, why, and what now: `svc dashboard`." })
