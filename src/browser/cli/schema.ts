// `svc browser schema`: what commands print with --json, as JSON schemas. The service that answers them describes them, so
// that the description is always that of the gateway that runs.
import { AppError } from "../../kernel/errors.ts"
import type { CommandSpec } from "./command.ts"

type Schema = Record<string, unknown>

interface Document {
  components: { schemas: Record<string, Schema> }
}

const dialect = "https://json-schema.org/draft/2020-12/schema"

export function schemaCommand(commands: () => { words: string; spec: CommandSpec }[]): CommandSpec {
  return {
    usage: "schema [command...]",
    description: "Print the JSON schema of what a command prints with --json; without a command, of all",
    example: "svc browser schema click",
    json: "JsonSchema",
    perform: async ({ send, io }, ...words) => {
      const names = new Map(commands().map(({ words: path, spec }) => [path, spec.json]))
      const wanted = words.filter(Boolean).join(" ")
      const name = names.get(wanted) ?? names.get(`${wanted} list`)
      if (wanted !== "" && name === undefined) {
        throw new AppError("bad-request", `There is no command "svc browser ${wanted}"`, {
          hint: "List them with: svc browser --help",
        })
      }
      const { components } = await send<Document>("GET", "/openapi.json")
      const reply = name === undefined ? allOf(components.schemas, names) : oneOf(components.schemas, name)
      return { reply, show: () => io.printJson(reply) }
    },
  }
}

function allOf(schemas: Record<string, Schema>, names: Map<string, string>): Schema {
  return {
    $schema: dialect,
    $defs: toDefinitions(schemas),
    type: "object",
    description: "What each command prints with --json; with any command, an error is an ErrorBody.",
    properties: Object.fromEntries([...names].map(([words, name]) => [words, { $ref: `#/$defs/${name}` }])),
  }
}

/** The schema of one name, with those that it needs and that of errors. */
function oneOf(schemas: Record<string, Schema>, name: string): Schema {
  const needed = new Set<string>()
  const add = (wanted: string) => {
    if (needed.has(wanted)) return
    needed.add(wanted)
    for (const [, other] of JSON.stringify(schemas[wanted]).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      add(other as string)
  }
  add(name)
  add("ErrorBody")
  const definitions = Object.fromEntries(Object.entries(schemas).filter(([key]) => needed.has(key)))
  return {
    $schema: dialect,
    $defs: toDefinitions(definitions),
    anyOf: [{ $ref: `#/$defs/${name}` }, { $ref: "#/$defs/ErrorBody" }],
  }
}

function toDefinitions(schemas: Record<string, Schema>): Schema {
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/components/schemas/', '"#/$defs/')) as Schema
}
