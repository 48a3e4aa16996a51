// What a caller has sent, against a schema.
import type { z } from "zod"
import { describeSchemaIssue } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"

/** Throws `bad-request`, naming each field. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: describeSchemaIssue })
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": "))
  throw new AppError("bad-request", problems.join("; "))
}

export type Given<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** Left-out fields are absent, not undefined: that is what the types inside mean by optional. */
export function given<T extends object>(value: T): Given<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Given<T>
}
