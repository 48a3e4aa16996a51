// What a route of `/api` takes and answers, as schemas alone: the server parses with them, the page takes its types from
// them, and the OpenAPI document is made of them. These files import nothing but zod, so that the page can import them.
import { z } from "zod"

export interface Endpoint {
  /** A sentence without its full stop. */
  summary: string
  /** What stands in the path. */
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  reply: z.ZodType<object>
}

export type Endpoints = Readonly<Record<`${"GET" | "POST"} /api/${string}`, Endpoint>>

/** Keeps the schemas' own types. */
export function define<const Given extends Endpoints>(endpoints: Given): Given {
  return endpoints
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type Written<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined

/** What a handler is given. */
export interface Input<Of extends Endpoint> {
  params: Parsed<Of["params"]>
  query: Parsed<Of["query"]>
  body: Parsed<Of["body"]>
}

/** What a caller writes, and what it gets. */
export interface Call<Of extends Endpoint> {
  params: Written<Of["params"]>
  query: Written<Of["query"]>
  body: Written<Of["body"]>
  reply: z.output<Of["reply"]>
}

export const limit = z.coerce.number().int().min(1).max(500).default(50)
/** Cursor: ids below this only. */
export const before = z.coerce.number().int().min(1).optional()
export const rowId = z.object({ id: z.coerce.number().int().min(1) })
export const word = z.string().trim().min(1).max(400)
export const nothing = z.strictObject({})
/** The same wish, sent twice with the same key, is done once. */
export const wishKey = z.string().min(8).max(64).optional()

/** A page of a list, newest first. `next` is the cursor of the older page; null when there is none. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.number().nullable() })
}
