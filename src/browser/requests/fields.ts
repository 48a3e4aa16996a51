// The building stones of request schemas. Numbers and flags may also come as words, since a query string and many a
// model write them so.
import { z } from "zod"

/** Unions whose first member is how the value should be written, and the others what is taken too. */
export const looseForms = z.registry<{ loose: true }>()

function loose<Schema extends z.ZodType>(schema: Schema): Schema {
  looseForms.add(schema, { loose: true })
  return schema
}

export const flag = loose(
  z.union([
    z.boolean(),
    z
      .string()
      .trim()
      .toLowerCase()
      .pipe(z.enum(["true", "1", "yes", "false", "0", "no"]))
      .transform((word) => word === "true" || word === "1" || word === "yes"),
  ]),
)

export const numeric = (schema: z.ZodNumber) =>
  loose(
    z.union([
      schema,
      z
        .string()
        .trim()
        .regex(/^-?\d+(\.\d+)?$/, "must be a number")
        .transform(Number)
        .pipe(schema),
    ]),
  )

/** Out of range is brought into it: a limit is a wish. */
export const clamped = (min: number, max: number, byDefault: number) =>
  numeric(z.number())
    .default(byDefault)
    .transform((value) => Math.min(max, Math.max(min, Math.floor(value))))
    .describe(`Default ${byDefault}; brought into ${min} to ${max}.`)

export const word = loose(z.union([z.string(), z.number().transform(String)])).pipe(
  z.string().trim().min(1, "must not be empty").max(2_000),
)

/** Words as they are, blanks at their ends too; a number stands for its digits. */
export const words = (schema: z.ZodString) => loose(z.union([schema, z.number().transform(String).pipe(schema)]))

export const target = { targetId: word.optional() }

/** A fresh snapshot in the answer of what changes a page. */
export const fresh = { snapshot: z.enum(["efficient", "diff"]).optional() }
