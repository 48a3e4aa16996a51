// What some provider would refuse of a tool as it is sent: the strictest reading of all of them. Sources of the rules:
// `flatSchema` in src/agent/tool-schema.ts.
import { type Json, isJsonObject } from "../../src/kernel/index.ts"

const keywords: Readonly<Record<string, readonly string[]>> = {
  object: ["type", "description", "properties", "required"],
  array: ["type", "description", "items"],
  string: ["type", "description", "enum"],
  integer: ["type", "description"],
  number: ["type", "description"],
  boolean: ["type", "description"],
}

export function brokenToolRules(tool: { name: Json; description: Json; inputSchema: Json }): string[] {
  const { name, description, inputSchema } = tool
  const broken: string[] = []
  // Google wants a letter or an underscore in front.
  if (typeof name !== "string" || !/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)) broken.push("its name")
  if (typeof description !== "string" || description.trim() === "" || description.length > 1_024) {
    broken.push("its description")
  }
  if (!isJsonObject(inputSchema) || inputSchema["type"] !== "object") broken.push("no object at the top")
  return [...broken, ...brokenNodes(inputSchema, "input")]
}

function brokenNodes(node: Json | undefined, at: string): string[] {
  if (!isJsonObject(node)) return [`${at} is no schema`]
  const { type, description, properties, required, items } = node
  const allowed = typeof type === "string" ? keywords[type] : undefined
  if (!allowed) return [`${at} has the type ${JSON.stringify(type)}`]
  const broken = Object.keys(node).flatMap((key) => (allowed.includes(key) ? [] : [`${at} has ${key}`]))
  if (description !== undefined && typeof description !== "string") broken.push(`${at} has no words as description`)
  const values = node["enum"]
  if (values !== undefined && !(Array.isArray(values) && values.length > 0 && values.every(isWord))) {
    broken.push(`${at} has an enum of other than words`)
  }
  if (type === "array") broken.push(...brokenNodes(items, `${at}[]`))
  if (type !== "object") return broken
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return [...broken, `${at} has no properties`]
  if (required !== undefined) {
    const isRight =
      Array.isArray(required) && required.length > 0 && required.every((name) => String(name) in properties)
    if (!isRight) broken.push(`${at} requires what it does not have`)
  }
  for (const [name, each] of Object.entries(properties)) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name)) broken.push(`${at}.${name} is no name`)
    broken.push(...brokenNodes(each, `${at}.${name}`))
  }
  return broken
}

function isWord(value: Json): boolean {
  return typeof value === "string" && value !== ""
}
