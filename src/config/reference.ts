// The reference of all configuration keys, written from the schema: docs/reference/config.md.
import type { z } from "zod"
import { configSchema } from "./schema.ts"
import { openSchema } from "./schema-walk.ts"
import type { OpenedSchema } from "./schema-walk.ts"

const introduction = `# Configuration reference

This page is generated from the schema by \`scripts/generate-config-docs.ts\`; change the schema, not the page.

The configuration is \`svc.json\` in the state folder (\`~/.svc\`, or \`SVC_STATE_DIR\`), or the file that
\`SVC_CONFIG_PATH\` names. It is JSON5: comments, bare keys and trailing commas are fine. Unknown keys are errors. A missing
file is an empty configuration; a file with errors is refused at a start, and a running gateway goes on with the last good one.

- \`\${NAME}\` in a value stands for an environment variable (upper-case letters, digits and underscores). An unset or empty
  variable is an error. \`$\${NAME}\` is the literal text. Keys are not touched.
- \`$include\` in any object names a file or a list of files, relative to the file it stands in. Objects are merged, later
  files win over earlier ones, and the keys beside \`$include\` win over all. Included files stay below the folder of the
  main file, unless they are named by an absolute path; at most 10 files deep.
- Environment variables: \`SVC_STATE_DIR\`, \`SVC_CONFIG_PATH\`, \`SVC_GATEWAY_PORT\` (wins over \`gateway.port\`),
  \`CHATAPP_BOT_TOKEN\` (token of the default account, when the configuration has none), and \`<PROVIDER>_API_KEY\` (key of a
  model provider that has none).
- Durations are written \`90s\`, \`30m\`, \`1h30m\`. \`<name>\` is a name of your choice, \`[]\` an element of a list.
- *secret*: never shown in dumps, messages and logs. *later*: accepted and checked; takes effect in a later release.
`

export function renderConfigReference(): string {
  const top = membersOf(configSchema)
  const sections = top.map(([name, schema]) => {
    const rows = rowsOf(name, schema)
    return `## ${name}\n\n${openSchema(schema).meta.description ?? ""}\n\n${table(rows)}\n`
  })
  return `${introduction}\n${sections.join("\n")}`
}

interface Row {
  key: string
  type: string
  defaultText: string
  meaning: string
}

function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => `| \`${row.key}\` | ${row.type} | ${row.defaultText} | ${row.meaning} |`)
  return ["| Key | Type | Default | Meaning |", "|---|---|---|---|", ...lines].join("\n")
}

function rowsOf(key: string, schema: z.core.$ZodType): Row[] {
  const opened = openSchema(schema)
  const below = childrenOf(key, schema)
  const hasOwnRow = below.length === 0 || !opened.cores.every((core) => core._zod.def.type === "object")
  return [...(hasOwnRow ? [rowOf(key, opened)] : []), ...below.flatMap(([name, child]) => rowsOf(name, child))]
}

function rowOf(key: string, opened: OpenedSchema): Row {
  const { description = "", secret, later } = opened.meta
  const marks = [secret ? "*secret*" : "", later ? "*later*" : ""].filter((mark) => mark !== "")
  return {
    key,
    type: escapeCell([...new Set(opened.cores.map(typeText))].join(" or ")),
    defaultText: /[>\]]$/.test(key) ? "" : escapeCell(defaultOf(opened)),
    meaning: escapeCell([description, marks.length > 0 ? `(${marks.join(", ")})` : ""].filter(Boolean).join(" ")),
  }
}

function defaultOf(opened: OpenedSchema): string {
  if (opened.meta.defaultText !== undefined) return opened.meta.defaultText
  if (opened.defaultValue !== undefined) return `\`${JSON.stringify(opened.defaultValue.value)}\``
  return opened.required ? "required" : ""
}

function membersOf(schema: z.core.$ZodType): [string, z.core.$ZodType][] {
  return openSchema(schema).cores.flatMap((core) => {
    const definition = core._zod.def
    if (definition.type !== "object") return []
    const members: [string, z.core.$ZodType][] = Object.entries(definition.shape)
    const rest = definition.catchall
    return rest && rest._zod.def.type !== "never" ? [...members, ["<NAME>", rest]] : members
  })
}

/** Keys below a schema. The keys of an account are those of its channel and are not listed twice. */
function childrenOf(key: string, schema: z.core.$ZodType): [string, z.core.$ZodType][] {
  if (key.endsWith(".accounts")) return []
  const members = membersOf(schema).map(([name, child]): [string, z.core.$ZodType] => [`${key}.${name}`, child])
  const others = openSchema(schema).cores.flatMap((core): [string, z.core.$ZodType][] => {
    const definition = core._zod.def
    if (definition.type === "record" && isDescribed(definition.valueType)) {
      return [[`${key}.<name>`, definition.valueType]]
    }
    if (definition.type === "array" && membersOf(definition.element).length > 0)
      return [[`${key}[]`, definition.element]]
    return []
  })
  return [...members, ...others]
}

/** Whether a value of a map says more than its type, and so deserves rows of its own. */
function isDescribed(schema: z.core.$ZodType): boolean {
  return openSchema(schema).meta.description !== undefined || childrenOf("", schema).length > 0
}

const typeNames: Record<string, string> = {
  string: "text",
  boolean: "true or false",
  object: "object",
}

function typeText(core: z.core.$ZodTypes): string {
  const definition = core._zod.def
  if (definition.type === "enum")
    return Object.values(definition.entries)
      .map((value) => `\`${value}\``)
      .join(", ")
  if (definition.type === "literal") return definition.values.map((value) => `\`${String(value)}\``).join(", ")
  if (definition.type === "number") return "format" in definition ? "whole number" : "number"
  if (definition.type === "array") return `list of ${openSchema(definition.element).cores.map(typeText).join(" or ")}`
  if (definition.type === "record") {
    const { valueType } = definition
    return isDescribed(valueType) ? "map" : `map of ${openSchema(valueType).cores.map(typeText).join(" or ")}`
  }
  return typeNames[definition.type] ?? definition.type
}

function escapeCell(text: string): string {
  return text.replace(/\|/g, "\\|").replace(/\s+/g, " ")
}
