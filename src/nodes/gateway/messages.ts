// What a node may say, as schemas: nothing that it sends is believed before it has passed one of them.
import { z } from "zod"

const token = z.string().regex(/^[\w-]{16,100}$/)
const word = z.string().max(80)
/** As an owner may call a node; anything else that a node calls itself is brought into this form. */
export const nodeName = z
  .string()
  .trim()
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,38}[\p{L}\p{N}])?$/u, "must be 1 to 40 letters, digits, spaces and ._-")

export const hello = z.object({
  type: z.literal("hello"),
  protocol: z.int().min(0).max(1_000),
  key: z.string().max(100),
  nonce: token,
  name: word,
  platform: word,
  version: word,
})

// As a configuration names them: they are shown to people and to models.
const profileName = z.string().regex(/^[a-z0-9-]{1,64}$/)
export const offers = z.object({
  commands: z.array(word).max(20),
  browser: z.object({ profiles: z.array(profileName).max(200), defaultProfile: profileName }).exactOptional(),
})

export const proof = z.object({ type: z.literal("proof"), proof: z.string().max(200), offers })

const notice = z.object({
  file: z.int().min(1).max(0xff_ff_ff_ff),
  field: z.string().max(40),
  name: z.string().max(255),
  bytes: z.int().min(0),
})

export const fromNode = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("result"),
    id: z.int().min(1),
    status: z.int().min(200).max(599),
    body: z.json(),
    files: z.array(notice).max(8),
  }),
  z.object({ type: z.literal("offers"), offers }),
])

/**
 * What is left of a name when all that could mislead is out of it. One that reads as the beginning of an id is none: whoever
 * approves by the id of one node would let in the one with that name.
 */
export function plainName(text: string, id: string): string {
  const parsed = nodeName.safeParse(plainWords(text).replace(/^[ ._-]*/, ""))
  const name = parsed.success ? parsed.data : id.slice(0, 4)
  return /^[0-9a-f]{4,16}$/i.test(name) ? `node-${name}` : name
}

/** Of a stranger, for the chat and the list: no markup, no line of its own. */
export function plainWords(text: string): string {
  return text
    .slice(0, 40)
    .replace(/[^\p{L}\p{N} ._-]/gu, " ")
    .split(" ")
    .filter(Boolean)
    .join(" ")
}
