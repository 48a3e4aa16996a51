// The building stones of request schemas. Numbers and flags may also come as words, since a query string and many a
// model write them so.
import { z } from "zod"

export const flag = z.union([
  z.boolean(),
  z
    .string()
    .trim()
    .toLowerCase()
    .pipe(z.enum(["true", "1", "yes", "false", "0", "no"]))
    .transform((word) => word === "true" || word === "1" || word === "yes"),
])

export const numeric = (schema: z.ZodNumber) =>
  z.union([
    schema,
    z
      .string()
      .trim()
      .regex(/^-?\d+(\.\d+)?$/, "must be a number")
      .transform(Number)
      .pipe(schema),
  ])

/** Out of range is brought into it: a limit is a wish. */
export const clamped = (min: number, max: number, byDefault: number) =>
  numeric(z.number())
    .default(byDefault)
    .transform((value) => Math.min(max, Math.max(min, Math.floor(value))))

export const word = z
  .union([z.string(), z.number().transform(String)])
  .pipe(z.string().trim().min(1, "must not be empty").max(2_000))

export const target = { targetId: word.optional() }

/** A fresh snapshot in the answer of what changes a page. */
export const fresh = { snapshot: z.enum(["efficient", "diff"]).optional() }
