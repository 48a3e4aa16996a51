// The OpenAPI 3.1 document of the control service, made from the routes: their schemas are those that parse requests and
// those that the wire types are made from.
import { type ErrorCode, errorTable, type JsonObject } from "../../kernel/index.ts"
import type { Route } from "../routes/route.ts"
import { type JsonSchema, replySchemas, requestSchema } from "./schemas.ts"

const anyRoute: readonly ErrorCode[] = [
  "bad-request",
  "unauthorized",
  "forbidden-origin",
  "profile-not-found",
  "too-many-failures",
  "internal",
  "not-ready",
]
const withBody: readonly ErrorCode[] = ["bad-json", "request-timeout", "payload-too-large", "unsupported-media-type"]

const description = `Control of a browser, on 127.0.0.1 only. Every request needs the gateway's token. Requests of web pages
(an Origin header of a site) and under foreign host names are refused. Fields that are given as text where a number or a
truth value is meant ("12", "true", "no") are taken as that; fields that are not known are ignored.`

export function openApiDocument(routes: readonly Route[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "svc browser control", version: "1", description },
    servers: [
      {
        url: "http://127.0.0.1:{port}",
        variables: { port: { default: "18791", description: "gateway.port + 2" } },
      },
    ],
    security: [{ gatewayToken: [] }],
    paths,
    components: {
      securitySchemes: {
        gatewayToken: { type: "http", scheme: "bearer", description: "The gateway's token." },
      },
      parameters: {
        profile: {
          name: "profile",
          in: "query",
          description: "Browser profile; the configured one when none is named. A body may name it too.",
          schema: { type: "string" },
        },
      },
      schemas: { ...replySchemas(), ErrorBody: errorBody() },
    },
  }
}

/** `GET /tabs` as one name. */
export function operationId({ method, path }: Pick<Route, "method" | "path">): string {
  const words = path.split(/[/:-]+/).filter(Boolean)
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")
  return method.toLowerCase() + (name === "" ? "Status" : name.replace(/\W/g, ""))
}

function operation(route: Route): Record<string, unknown> {
  const { method, path, summary, reply, example } = route
  const schema = requestSchema(route.request)
  const inPath = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)
  const parameters = [
    ...inPath.map((name) => parameter(name, "path", schema, example)),
    ...(method === "POST" ? [] : namesOf(schema).filter((name) => !inPath.includes(name))).map((name) =>
      parameter(name, "query", schema, example),
    ),
    { $ref: "#/components/parameters/profile" },
  ]
  return {
    operationId: operationId(route),
    tags: [tagOf(path)],
    summary,
    parameters,
    ...(method === "POST" ? { requestBody: body(without(schema, inPath), example, inPath) } : {}),
    responses: {
      "200": {
        description: "Done.",
        content: { "application/json": { schema: { $ref: `#/components/schemas/${reply}` } } },
      },
      ...errorResponses(route),
    },
  }
}

function tagOf(path: string): string {
  const [first = ""] = path.split("/").filter(Boolean)
  return first.startsWith(":") || first === "" ? "status" : first
}

function namesOf(schema: JsonSchema): string[] {
  return Object.keys(schema.properties ?? {})
}

function parameter(name: string, place: "path" | "query", schema: JsonSchema, example: JsonObject | undefined) {
  const { description: words, ...own } = (schema.properties?.[name] ?? {}) as JsonSchema & { description?: string }
  return {
    name,
    in: place,
    required: place === "path" || (schema.required ?? []).includes(name),
    ...(words === undefined ? {} : { description: words }),
    schema: own,
    ...(example?.[name] === undefined ? {} : { example: example[name] }),
  }
}

function without(schema: JsonSchema, names: string[]): JsonSchema {
  if (names.length === 0) return schema
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name)),
  )
  return { ...schema, properties, required: (schema.required ?? []).filter((name) => !names.includes(name)) }
}

function body(schema: JsonSchema, example: JsonObject | undefined, inPath: string[]) {
  const shown = Object.fromEntries(Object.entries(example ?? {}).filter(([name]) => !inPath.includes(name)))
  return {
    required: (schema.required ?? []).length > 0 || schema.oneOf !== undefined,
    content: { "application/json": { schema, ...(example === undefined ? {} : { example: shown }) } },
  }
}

/** All codes that the route can answer with. */
export function errorCodes(route: Pick<Route, "method" | "errors" | "library">): ErrorCode[] {
  const library: readonly ErrorCode[] = route.library === false ? [] : ["library-missing"]
  const codes = [...anyRoute, ...(route.method === "POST" ? withBody : []), ...route.errors, ...library]
  return [...new Set(codes)]
}

function errorResponses(route: Route): Record<string, unknown> {
  const byStatus = Map.groupBy(errorCodes(route), (code) => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus.entries()]
      .toSorted(([a], [b]) => a - b)
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join(" "),
          content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorBody" } } },
        },
      ]),
  )
}

function errorBody(): JsonSchema {
  return {
    type: "object",
    properties: {
      ok: { const: false },
      error: {
        type: "object",
        properties: {
          code: { type: "string", enum: Object.keys(errorTable) },
          message: { type: "string" },
          hint: { type: "string", description: "The next step." },
        },
        required: ["code", "message"],
      },
    },
    required: ["ok", "error"],
  }
}
