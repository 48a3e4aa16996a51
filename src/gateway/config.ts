// The keys of `gateway.*`: where the gateway listens, its own token, and how it follows changes of its config file.
import { z } from "zod"
import { pageSchema } from "./page/config.ts"

/** Whether nobody but this machine can reach a listener of this `gateway.bind`. */
export function isLoopbackBind(bind: string): boolean {
  const address = bind.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return ["loopback", "localhost", "::1"].includes(address) || address.startsWith("127.")
}

/** The ports of browser control (+2) and of the relay (+3) are those behind it. */
const highestPort = 65_532
const highestPortWords = `must be at most ${highestPort}: browser control (+2) and the relay (+3) have the ports behind it`

export const gatewaySchema = z
  .strictObject({
    port: z.int().min(1).max(highestPort, highestPortWords).default(18789).meta({
      description:
        "Port of the gateway, at most 65532. The ports of browser control (+2), relay (+3) and managed browsers (from +11) derive from it. `SVC_GATEWAY_PORT` wins over this key.",
    }),
    bind: z.string().trim().min(1).default("loopback").meta({
      description:
        "Where the gateway listens: `loopback` (127.0.0.1), `lan` (all interfaces), or the address of one interface.",
    }),
    auth: z
      .strictObject({
        token: z.string().min(1).optional().meta({
          description: "Secret of the gateway. When unset, one is generated once into `<state>/gateway-token`.",
          secret: true,
        }),
      })
      .prefault({})
      .meta({ description: "How callers of the gateway prove themselves." }),
    allowedHosts: z.array(z.string().trim().min(1)).default([]).meta({
      description: "Further host names under which the gateway may be called, for example that of a reverse proxy.",
    }),
    page: pageSchema,
    reload: z
      .strictObject({
        mode: z.enum(["hybrid", "hot", "restart", "off"]).default("hybrid").meta({
          description:
            "What a changed config file does: `hybrid` applies what can be applied and restarts for the rest (where the gateway could not come back, it goes on, and `svc status` says why), `hot` ignores the rest, `restart` always restarts, `off` does nothing.",
        }),
        debounceMs: z.int().min(0).max(60_000).default(300).meta({
          description: "Milliseconds without a further change before a changed config file is read.",
        }),
      })
      .prefault({})
      .meta({ description: "How the running gateway follows changes of its config file." }),
    nodes: z
      .strictObject({
        browser: z
          .strictObject({
            mode: z.enum(["auto", "manual", "off"]).default("auto").meta({
              description:
                "Whether the agent's calls go to the browser of a connected node: `auto` sends those that name no target to the one node that is connected (or to `node`), `manual` only those that name a node, `off` none.",
            }),
            node: z.string().trim().min(1).max(64).optional().meta({
              description: "Name or id of the node that is meant when none is named.",
              defaultText: "the one that is connected, if it is the only one",
            }),
          })
          .prefault({})
          .meta({ description: "Browsers of connected nodes." }),
      })
      .prefault({})
      .meta({ description: "Connected nodes." }),
  })
  .prefault({})
  .meta({ description: "The gateway's own listener." })

export type GatewayConfig = z.infer<typeof gatewaySchema>
