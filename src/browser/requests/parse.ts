// From a request's JSON to its parsed form, with errors that name the field.
import type { z } from "zod"
import { AppError } from "../../kernel/index.ts"

/** The value as the schema has it. Throws `bad-request` naming the field. */
export function parseRequest<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const path = issue?.path.join(".") ?? ""
  throw new AppError("bad-request", path === "" ? (issue?.message ?? "Wrong request") : `${path}: ${issue?.message}`)
}
