// One tool call: look up, check the input, run, and put what comes back into the form the model may see.
import {
  AppError,
  type Ids,
  type Json,
  type Log,
  describeError,
  errorTable,
  explainHandles,
  isOutOfHandles,
  raceAbort,
} from "../kernel/index.ts"
import type { ContentPart, ToolCall, ToolResultPart, ToolSchema } from "../models/contract.ts"
import { neutralize, wrapUntrusted } from "./boundary.ts"
import { type ConfirmRule, confirmationFor } from "./confirm.ts"
import type { Gated, Tool, ToolContext, ToolResult } from "./tool.ts"
import { readToolInput } from "./tool-input.ts"
import { shownSchema } from "./tool-schema.ts"

export function toolSchemas(tools: readonly Tool[]): ToolSchema[] {
  return tools.map((tool) => ({ name: tool.name, description: tool.description, inputSchema: shownSchema(tool) }))
}

export interface RunToolOptions {
  tools: readonly Tool[]
  context: ToolContext
  ids: Ids
  log: Log
  /** What an owner wants to be asked about. */
  confirm?: readonly ConfirmRule[] | undefined
  /** Asks an owner about a call that is not made by itself; without it nobody can be asked. */
  approve?: ((question: GatedCall) => Promise<Permission>) | undefined
}

export interface GatedCall extends Gated {
  tool: string
  /** As the model has written it. */
  input: Json
  callId: string
  /** The model had read words of others before it wrote the call. */
  tainted: boolean
}

export type Permission = { kind: "allowed" } | { kind: "refused"; text: string }

export interface RanTool {
  result: ToolResultPart
  /** It brought words of others. */
  isForeign: boolean
}

/** Never throws for what the model can mend; rejects only with the abort reason, or `storage-handles`. */
export async function runTool(options: RunToolOptions, call: ToolCall): Promise<RanTool> {
  const tool = options.tools.find((candidate) => candidate.name === call.name)
  if (!tool) {
    const known = options.tools.map((candidate) => candidate.name).join(", ") || "none"
    return own(failed(call, `There is no tool ${JSON.stringify(call.name)}. Tools: ${known}.`))
  }
  const input = readToolInput(tool, call.input)
  if (input.kind === "refused") return own(failed(call, input.reason))
  options.log.info({ tool: tool.name, run: options.context.runId }, "tool started")
  try {
    const permission = await mayRun(options, tool, input.value, call)
    if (permission.kind === "refused") return own(failed(call, permission.text))
    const context: ToolContext = {
      ...options.context,
      ...(permission.kind === "allowed" ? { approved: true, allowed: permission.action } : {}),
      confirms: (part, more) => confirmationFor(options.confirm ?? [], tool, part, { ...options.context, ...more }),
    }
    // A tool that does not heed the signal must not outlive the turn's time limit.
    const ran = await raceAbort(tool.run(input.value, context), options.context.signal)
    const content = present(options.ids, tool, ran)
    const result = { callId: call.id, toolName: call.name, content, isError: ran.isError ?? false }
    return { result, isForeign: ran.foreign !== undefined || (tool.output === "untrusted" && ran.content.length > 0) }
  } catch (error) {
    if (options.context.signal.aborted) throw options.context.signal.reason
    // The machine's trouble, not the tool's: the turn goes on when there are some again.
    if (isOutOfHandles(error)) throw explainHandles(error)
    options.log.info({ tool: tool.name, run: options.context.runId, reason: describeError(error) }, "tool failed")
    const isForeign = error instanceof AppError && error.isForeign
    const text = isForeign ? explainForeign(options.ids, tool.name, error) : explain(error)
    return { result: failed(call, text), isForeign: isForeign || tool.output === "untrusted" }
  }
}

/** Nothing of it comes from elsewhere. */
function own(result: ToolResultPart): RanTool {
  return { result, isForeign: false }
}

async function mayRun(
  { context, approve, log, confirm = [] }: RunToolOptions,
  tool: Tool,
  input: unknown,
  call: ToolCall,
): Promise<MayRun> {
  const gating = tool.gate?.(input, context)
  const held = gating instanceof Promise ? await raceAbort(gating, context.signal) : gating
  const gated = held ?? (await raceAbort(confirmationFor(confirm, tool, input, context), context.signal))
  if (!gated) return { kind: "free" }
  log.info({ tool: tool.name, run: context.runId, tainted: context.tainted }, "tool call needs an approval")
  if (!approve) return { kind: "refused", text: neutralize(`forbidden: ${gated.reason}.`) }
  const asked = approve({ ...gated, tool: tool.name, callId: call.id, input: call.input, tainted: context.tainted })
  const permission = await raceAbort(asked, context.signal)
  return permission.kind === "allowed" ? { kind: "allowed", action: gated.action } : permission
}

type MayRun = { kind: "free" } | { kind: "allowed"; action: Json } | Extract<Permission, { kind: "refused" }>

/** May this call simply be made again after a crash? Unknown tools and unreadable inputs fail anyway. */
export function isRepeatable(tools: readonly Tool[], call: ToolCall): boolean {
  const tool = tools.find((candidate) => candidate.name === call.name)
  if (!tool) return true
  const input = readToolInput(tool, call.input)
  return input.kind === "refused" || tool.repeatable(input.value)
}

export function interruptedResult(call: ToolCall): ToolResultPart {
  return failed(
    call,
    "The gateway was restarted during this call. Whether it took effect is not known: look at the present state before you repeat it.",
  )
}

export function stoppedResult(call: ToolCall): ToolResultPart {
  return failed(call, "The turn was stopped before this call had ended. Whether it took effect is not known.")
}

function present(ids: Ids, tool: Tool, result: ToolResult): ContentPart[] {
  const parts: ContentPart[] = []
  if (result.note !== undefined) parts.push({ type: "text", text: result.note })
  for (const part of result.content) {
    if (part.type === "image" || tool.output === "trusted") parts.push(part)
    else parts.push({ type: "text", text: wrapUntrusted(ids, { source: tool.name, text: part.text }) })
  }
  if (result.foreign !== undefined) {
    parts.push({ type: "text", text: wrapUntrusted(ids, { source: tool.name, text: result.foreign }) })
  }
  return parts.length > 0 ? parts : [{ type: "text", text: "Done." }]
}

function explain(error: unknown): string {
  if (!(error instanceof AppError)) return "The tool failed unexpectedly."
  const hint = error.hint === undefined ? "" : ` Hint: ${error.hint}`
  return neutralize(`${error.code}: ${error.message}.${hint}`)
}

/** What others have written of it stands inside their boundary. */
function explainForeign(ids: Ids, source: string, { code, message, hint }: AppError): string {
  const own = neutralize(`${code}: ${errorTable[code].meaning}${hint === undefined ? "" : ` Hint: ${hint}`}`)
  return `${own}\n${wrapUntrusted(ids, { source, text: message })}`
}

function failed(call: ToolCall, text: string): ToolResultPart {
  return { callId: call.id, toolName: call.name, content: [{ type: "text", text }], isError: true }
}

/** Files that the tools of a turn have made and that its reply may send: the MEDIA: lines of their notes. */
export function producedMedia(results: readonly ToolResultPart[]): Set<string> {
  const paths = new Set<string>()
  for (const result of results) {
    // Only the first part can be our own note; everything else may hold foreign words.
    const note = result.content[0]
    if (result.isError || note?.type !== "text" || note.text.startsWith("<untrusted-content")) continue
    for (const match of note.text.matchAll(/^MEDIA:(\S.*)$/gm)) paths.add((match[1] as string).trim())
  }
  return paths
}
