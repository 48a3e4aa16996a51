// One route of the control service: what it takes, what it answers and what does it. The app serves it and the OpenAPI
// document describes it, both from this one value.
import { z } from "zod"
import type { ErrorCode, JsonObject } from "../../kernel/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import type { Reply, ReplyName } from "../replies/index.ts"
import { parseRequest, withoutNulls } from "../requests/index.ts"

export type Method = "GET" | "POST" | "DELETE"

export interface Route {
  method: Method
  /** With `:name` for a part that is a field. */
  path: string
  summary: string
  /** Fields of the query (GET, DELETE) or of the body (POST), and of the path. */
  request: z.ZodType
  reply: ReplyName
  /** Codes besides those that every route can answer with. */
  errors: readonly ErrorCode[]
  /** Whether it answers 501 without the automation library; "some" when it depends on what is asked for. */
  library: boolean | "some"
  files?: RouteFiles
  /** A request as a caller would send it. */
  example?: JsonObject
  run(caller: Caller, fields: JsonObject, core: BrowserCore): unknown
}

/** What of it are paths on the machine of the browser. To another machine the files themselves go. */
export interface RouteFiles {
  /** Field of the request: paths of files that are read. */
  reads?: "paths"
  /** Field of the reply with the path of a file that was made, and the folder in which it lies. */
  gives?: { field: "path" | "imagePath" | "download.path"; folder: "media" | "downloads" | "traces" }
}

interface Definition<Schema extends z.ZodType, Name extends ReplyName> {
  summary: string
  request?: Schema
  reply: Name
  errors?: readonly ErrorCode[]
  library?: boolean | "some"
  files?: RouteFiles
  example?: NoInfer<z.input<Schema>> & JsonObject
  /** Instead of the schema, where its own words would not help. */
  parse?: (fields: JsonObject) => z.output<Schema>
  run(caller: Caller, request: z.output<Schema>, core: BrowserCore): Reply<Name> | Promise<Reply<Name>>
}

export function route<Schema extends z.ZodType, Name extends ReplyName>(
  method: Method,
  path: string,
  definition: Definition<Schema, Name>,
): Route {
  const { request = z.object({}) as unknown as Schema, errors = [], library = false, run, summary, reply } = definition
  const parse =
    definition.parse ??
    ((fields: JsonObject) => parseRequest(request as z.ZodType<z.output<Schema>>, withoutNulls(fields)))
  return {
    method,
    path,
    summary,
    request,
    reply,
    errors,
    library,
    ...(definition.files === undefined ? {} : { files: definition.files }),
    ...(definition.example === undefined ? {} : { example: definition.example }),
    run: (caller, fields, core) => run(caller, parse(fields), core),
  }
}

/** What can go wrong on the way to a tab. */
export const tabErrors = [
  "tab-not-found",
  "tab-ambiguous",
  "browser-not-found",
  "browser-start-failed",
  "browser-unreachable",
  "browser-lost",
  "timeout",
] as const satisfies readonly ErrorCode[]

/** What can go wrong with the page of a tab. */
export const pageErrors = [
  ...tabErrors,
  "dialog-open",
  "tab-crashed",
  "navigation-refused",
] as const satisfies readonly ErrorCode[]

/** What can be wrong with an element that is named by ref. */
export const refErrors = [...pageErrors, "ref-not-found", "stale-ref"] as const satisfies readonly ErrorCode[]

/** What can keep an element from being used. */
export const reachErrors = [
  ...refErrors,
  "not-visible",
  "disabled",
  "covered",
  "not-stable",
  "not-editable",
] as const satisfies readonly ErrorCode[]
