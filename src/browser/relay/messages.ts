// What the extension may say once it has proven itself, as schemas: nothing of it is believed before it has passed one.
import { z } from "zod"
import type { FromExtension } from "./contract.ts"

const json = z.record(z.string(), z.unknown())

const tab = z.object({
  session: z.string(),
  targetId: z.string(),
  title: z.string().default(""),
  url: z.string().default(""),
  by: z.enum(["person", "agent", "page"]),
  openerId: z.string().optional(),
})

const child = z.object({ session: z.string(), child: z.string(), parent: z.string().optional(), params: json })

const error = z.object({ kind: z.enum(["refused", "no-tab", "browser"]), message: z.string() })

const refusal = z.object({ id: z.number(), error })
const answer = z.object({ id: z.number(), result: z.unknown().optional() })
const arrival = z.object({ got: z.number() })
const event = z.object({ session: z.string(), child: z.string().optional(), method: z.string(), params: json })
const told = z.union([
  z.object({ type: z.literal("tabs"), tabs: z.array(tab), children: z.array(child) }),
  z.object({ type: z.enum(["attached", "changed"]), tab }),
  z.object({ type: z.literal("detached"), session: z.string(), reason: z.string() }),
  z.object({ type: z.literal("ping") }),
])
const known: ReadonlySet<unknown> = new Set(["tabs", "attached", "changed", "detached", "ping"])

/** Undefined for what a newer extension may say. Throws for what makes no sense. */
export function readMessage(said: object): FromExtension | undefined {
  if ("id" in said) return ("error" in said ? refusal.parse(said) : answer.parse(said)) as FromExtension
  if ("got" in said) return arrival.parse(said)
  if ("method" in said) return event.parse(said) as FromExtension
  const isKnown = "type" in said && known.has(said.type)
  return isKnown ? (told.parse(said) as FromExtension) : undefined
}
