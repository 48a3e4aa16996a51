// What the inputs of both tools are made of, and the schema that a model is shown: only the actions that are switched on,
// and only the fields that these take.
import { z } from "zod"
import { inputSchemaOf } from "../../../agent/tool-schema.ts"
import type { JsonObject } from "../../../kernel/index.ts"

/** Models fill in what they do not use with "". */
export function orBlank<Output>(schema: z.ZodType<Output>) {
  return z.union([z.literal("").transform(() => undefined), schema]).optional()
}

const digits = "must be an id: digits"
/** Of messages and topics. */
export const id = z
  .union(
    [
      z
        .string()
        .trim()
        .regex(/^\d{1,16}$/, digits),
      z.int().positive(digits),
    ],
    {
      error: ({ input }) => (input === undefined ? "is missing" : digits),
    },
  )
  .transform(String)
/** Chats by id or @name. */
export const target = z.union([z.string(), z.int()]).transform(String)

/** Which fields each action takes; `needs` are those without which it can do nothing. */
export type Forms<Action extends string> = Readonly<
  Record<Action, { needs: readonly string[]; takes: readonly string[] }>
>

/** Every action says which of its fields are missing. For `z.ZodType.superRefine`. */
export function requireFields<Action extends string>(forms: Forms<Action>) {
  return (given: { action: Action }, context: z.RefinementCtx): void => {
    const fields = given as Record<string, unknown>
    for (const name of forms[given.action].needs) {
      if (fields[name] === undefined) context.addIssue({ code: "custom", path: [name], message: "is missing" })
    }
  }
}

export function schemaFor<Action extends string>(
  input: z.ZodType,
  forms: Forms<Action>,
  actions: readonly Action[],
): JsonObject {
  const whole = inputSchemaOf(input)
  const properties = whole["properties"] as Record<string, JsonObject>
  const taken = new Set(actions.flatMap((action) => [...forms[action].needs, ...forms[action].takes]))
  const shown = Object.entries(properties).filter(([name]) => taken.has(name))
  const action: JsonObject = { ...properties["action"], enum: [...actions] }
  return { ...whole, properties: { action, ...Object.fromEntries(shown) } }
}
