// An accepted tool of another server as a tool of the agent. Its result is foreign; a turn that has read words of others
// asks before it calls, unless the operator has named the tool as free; a tool that is not what was accepted asks always.
import { createHash } from "node:crypto"
import { z } from "zod"
import { canonicalJson } from "../../approvals/index.ts"
import { neutralize } from "../../agent/boundary.ts"
import type { Deed, Gated, Tool, ToolContext, ToolResult } from "../../agent/tool.ts"
import { flatSchema } from "../../agent/tool-schema.ts"
import { AppError, type Json, type JsonObject, isJsonObject, parseJson } from "../../kernel/index.ts"
import type { Connection } from "./connection.ts"
import type { Pin, Pins, ToolDefinition } from "./pins.ts"
import { resultOf } from "./result.ts"

export const toolPrefix = "mcp_"
/** Providers take 64 letters of a name, and 1,024 of a description. */
const maxName = 64
const maxDescription = 1_000

const input = z.looseObject({})

export interface McpToolOptions {
  connection: Pick<Connection, "name" | "source" | "settings" | "tools" | "call">
  pin: Pin
  pins: Pins
  isFree: boolean
}

export function nameOf(server: string, tool: string): string {
  const plain = `${toolPrefix}${server}_${tool}`.replaceAll(/[^\w-]/g, "_")
  // What could be the shortened name of another tool is shortened too.
  if (plain.length <= maxName && plain.endsWith(tool) && !/_[0-9a-f]{8}$/.test(plain)) return plain
  const mark = createHash("sha256").update(tool).digest("hex").slice(0, 8)
  return `${plain.slice(0, maxName - mark.length - 1)}_${mark}`
}

export function createMcpTool(options: McpToolOptions): Tool<JsonObject> {
  const { connection, pin, isFree } = options
  const { schema, isText } = schemaOf(pin)
  const argumentsOf = (value: JsonObject) => (isText ? readText(value["arguments"]) : value)
  return {
    name: nameOf(connection.name, pin.name),
    description: neutralize(`${connection.name}: ${pin.description || pin.name}`).slice(0, maxDescription),
    input: input as unknown as z.ZodType<JsonObject>,
    inputSchema: schema,
    output: "untrusted",
    repeatable: () => isFree,
    gate: (value, context) => gate(options, argumentsOf(value), context),
    describe: (value) => describe(options, argumentsOf(value)),
    run: (value, context) => run(options, argumentsOf(value), context),
  }
}

async function gate(options: McpToolOptions, given: JsonObject, context: ToolContext): Promise<Gated | undefined> {
  const { connection, pin, isFree } = options
  const now = await presentOf(options, context.signal)
  if (now.hash !== pin.hash) return gatedChange(connection.name, pin, now)
  if (!context.tainted || isFree) return undefined
  return {
    reason: `this turn has read words of others, and ${pin.name} of the MCP server ${connection.name} may change things or carry them out`,
    ...callOf(options, given),
  }
}

function describe(options: McpToolOptions, given: JsonObject): Deed {
  return { actions: [options.pin.name], sites: [], ...callOf(options, given) }
}

function callOf({ connection, pin }: McpToolOptions, given: JsonObject): Pick<Gated, "summary" | "action"> {
  return {
    summary: `Call ${pin.name} of the MCP server ${connection.name}`,
    action: { server: connection.name, tool: pin.name, arguments: given },
  }
}

function gatedChange(server: string, before: ToolDefinition, after: ToolDefinition): Gated {
  return {
    reason: `the MCP server ${server} has changed what ${before.name} is since it was accepted`,
    summary: `Accept that the MCP server ${server} has changed its tool ${before.name}`,
    action: changeOf(server, before, after),
  }
}

function changeOf(server: string, before: ToolDefinition, after: ToolDefinition): Json {
  const plain = ({ description, inputSchema }: ToolDefinition): Json => ({ description, inputSchema })
  return { server, tool: before.name, accepted: plain(before), now: plain(after) }
}

/** Whether a question is about a tool that has changed, and not about a call. */
export function isToolChange({ tool, action }: { tool: string; action: string }): boolean {
  return tool.startsWith(toolPrefix) && isJsonObject((parseJson(action) as JsonObject)["accepted"])
}

export interface ToolChange {
  server: string
  tool: string
  accepted: Omit<ToolDefinition, "name">
  now: Omit<ToolDefinition, "name">
}

/** Of the action of a question for which `isToolChange` holds. */
export function readToolChange(action: string): ToolChange {
  return parseJson(action) as unknown as ToolChange
}

async function run(options: McpToolOptions, given: JsonObject, context: ToolContext): Promise<ToolResult> {
  const { signal, allowed } = context
  const { connection, pin, pins } = options
  const now = await presentOf(options, signal)
  if (now.hash !== pin.hash) {
    checkShown(connection.name, { pin, now, allowed })
    // What was allowed is the definition, not this call: its arguments were written for another form.
    const { hash: _hash, ...definition } = now
    await pins.accept(connection.name, connection.source, definition)
    return {
      isError: true,
      note: "The owner has accepted the changed tool. It was not called: call it again in the form below; the next turn has it too.",
      content: [{ type: "text", text: JSON.stringify(definition) }],
    }
  }
  return resultOf(await connection.call(pin.name, given, signal), connection.settings.maxResultChars)
}

/** A server can change a tool between two looks at it: only the very forms that an owner was shown are accepted. */
function checkShown(
  server: string,
  { pin, now, allowed }: { pin: Pin; now: ToolDefinition; allowed?: Json | undefined },
) {
  if (allowed !== undefined && canonicalJson(allowed) === canonicalJson(changeOf(server, pin, now))) return
  throw new AppError("conflict", `The MCP server ${server} has just changed its tool ${pin.name}: it was not called`, {
    hint: "Call it again: an owner is shown the change first",
  })
}

async function presentOf({ connection, pin }: McpToolOptions, signal: AbortSignal) {
  const now = (await connection.tools(signal)).get(pin.name)
  if (now) return now
  throw new AppError("not-found", `The MCP server ${connection.name} has no tool ${pin.name} any more`)
}

/** Of one tool; each of its descriptions is held to `maxDescription`. */
const maxSchemaChars = 16 * 1024

/** The flat form that every provider takes; where there is none, the arguments as JSON in one field. */
function schemaOf({ inputSchema }: Pin): { schema: JsonObject; isText: boolean } {
  const { properties } = inputSchema
  const flat = isJsonObject(properties) && Object.keys(properties).length > 0 ? plainForm(inputSchema) : undefined
  if (flat) return { schema: flat, isText: false }
  const form = isJsonObject(properties) ? neutralize(JSON.stringify(inputSchema)).slice(0, 2_000) : ""
  const description = form === "" ? "Not needed" : `Arguments as a JSON object of this form: ${form}`
  return { schema: { type: "object", properties: { arguments: { type: "string", description } } }, isText: true }
}

/**
 * A server has written all of it, and it stands where the model reads what it can do: descriptions are held to what is held of
 * the tool's own, and names and values that cannot be shown as they are leave no such form.
 */
function plainForm(inputSchema: JsonObject): JsonObject | undefined {
  try {
    const flat = JSON.stringify(plainDescriptions(flatSchema(inputSchema)))
    return flat.length <= maxSchemaChars && neutralize(flat) === flat ? (parseJson(flat) as JsonObject) : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** `description` is a word of the schema, but for the names of properties. */
function plainDescriptions({ description, properties, items, ...rest }: JsonObject): JsonObject {
  const named = isJsonObject(properties) ? Object.entries(properties) : undefined
  return {
    ...rest,
    ...(typeof description === "string" ? { description: neutralize(description).slice(0, maxDescription) } : {}),
    ...(named
      ? { properties: Object.fromEntries(named.map(([name, each]) => [name, plainDescriptions(each as JsonObject)])) }
      : {}),
    ...(isJsonObject(items) ? { items: plainDescriptions(items) } : {}),
  }
}

function readText(value: Json | undefined): JsonObject {
  if (value === undefined || value === null || value === "") return {}
  const read = typeof value === "string" ? parseJson(value) : value
  if (isJsonObject(read)) return read
  throw new AppError("bad-request", "arguments must be a JSON object")
}
