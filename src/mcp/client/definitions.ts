// What of a server's tools is taken at all: a definition goes to the model in every turn and is kept, so one that is endless or
// of no depth that anybody reads is left out, and said so in the log.
import type { ToolDefinition } from "./pins.ts"

const maxNameChars = 128
const maxChars = 64 * 1024
const maxDepth = 32

/** Undefined when it can be taken. */
export function problemOf({ name, description, inputSchema }: ToolDefinition): string | undefined {
  if (name.length > maxNameChars) return `its name is longer than ${maxNameChars} characters`
  if (isDeeper(inputSchema, maxDepth)) return `its schema is nested more than ${maxDepth} levels deep`
  const chars = description.length + JSON.stringify(inputSchema).length
  return chars > maxChars ? `its definition has ${chars} characters, and ${maxChars} are the most` : undefined
}

/** Level by level, since what is looked for is what no recursion survives. */
function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
  }
  return false
}
