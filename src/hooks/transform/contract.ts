// What passes between a mapping and its transform. The function gets `url` as a URL object; what it gives back is
// checked here before anything is made of it.
import { z } from "zod"
import type { Json } from "../../kernel/index.ts"
import { thinkingLevels } from "../payload.ts"

export interface TransformInput {
  payload: Json
  headers: Record<string, string>
  url: string
  path: string
  item?: Json
}

const wakeMode = z.enum(["now", "next-heartbeat"])

/** Unknown fields are dropped; among them is `allowUnsafeExternalContent`, which code cannot set. */
export const overridesSchema = z.object({
  kind: z.enum(["wake", "agent"]).optional(),
  text: z.string().optional(),
  message: z.string().optional(),
  mode: wakeMode.optional(),
  wakeMode: wakeMode.optional(),
  name: z.string().optional(),
  sessionKey: z.string().optional(),
  deliver: z.boolean().optional(),
  channel: z.string().trim().toLowerCase().min(1).optional(),
  to: z.union([z.string(), z.int().transform(String)]).optional(),
  model: z.string().optional(),
  thinking: z.enum(thinkingLevels).optional(),
  timeoutSeconds: z.int().min(1).max(604_800).optional(),
})

export type Overrides = z.infer<typeof overridesSchema>

/** Null: nothing is to be done. Throws `internal` with nothing but "hook mapping failed" when the code fails. */
export type RunTransform = (
  transform: { module: string; export?: string | undefined },
  input: TransformInput,
) => Promise<Overrides | null>
