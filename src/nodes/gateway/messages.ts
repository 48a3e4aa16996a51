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

const profileName = z.string().min(1).max(64)
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

/** What is left of a name when all that could mislead is out of it. */
export function plainName(text: string, id: string): string {
  const letters = text
    .replace(/[^\p{L}\p{N} ._-]/gu, " ")
    .replace(/\s/g, " ")
    .slice(0, 40)
  const parsed = nodeName.safeParse(
    letters
      .replace(/^[ ._-]*/, "")
      .split(" ")
      .filter(Boolean)
      .join(" "),
  )
  return parsed.success ? parsed.data : `node-${id.slice(0, 4)}`
}
