// The tool `schedule`: reminders and schedules that an owner asks for. Its texts come back as turns later, so a turn that has
// read words of others asks first, and what it writes stays words of others.
import { z } from "zod"
import type { Tool, ToolContext, ToolPlace } from "../agent/tool.ts"
import { AppError, type Json } from "../kernel/index.ts"
import type { ScheduleWish } from "./contract.ts"
import { timeText } from "./look.ts"
import type { Schedules } from "./schedules.ts"

const word = z.string().trim().min(1).max(200)

const input = z.strictObject({
  action: z.enum(["add", "list", "remove"]),
  text: z
    .string()
    .trim()
    .min(1)
    .max(4_000)
    .optional()
    .describe("add: what you are to do or say then, as an order to yourself"),
  in: word.optional().describe("add, once: 20m, 2h, 3 days"),
  at: word.optional().describe("add, once: 18:00, or 2026-12-24 18:00, user's time"),
  cron: word.optional().describe("add, again and again: five fields, user's time zone"),
  every: word.optional().describe("add, again and again: 30m, 6h"),
  id: word.optional().describe("remove: from list"),
})

type Input = z.infer<typeof input>

export function scheduleTool(schedules: Schedules, place: ToolPlace, timeZone: () => string): Tool[] {
  // What comes back later speaks with an owner's voice.
  if (place.origin !== "owner") return []
  const tool: Tool<Input> = {
    name: "schedule",
    description:
      "Reminders and repeated tasks. At the time you are told the text in a turn of its own, and your answer goes to this chat.",
    input,
    output: "trusted",
    repeatable: ({ action }) => action === "list",
    gate: ({ action, ...what }, context) => {
      if (action === "list" || !context.tainted || context.approved) return undefined
      return {
        reason: "words of others were read, and what is scheduled comes back as an order",
        summary: action === "add" ? "Make a schedule" : "Remove a schedule",
        action: JSON.parse(JSON.stringify({ action, ...what })) as Json,
      }
    },
    run: async (call, context) => await run(schedules, call, context, timeZone()),
  }
  return [tool as Tool]
}

async function run(schedules: Schedules, call: Input, context: ToolContext, zone: string) {
  if (call.action === "list") return list(schedules, zone)
  if (call.action === "remove") {
    if (call.id === undefined) throw new AppError("bad-request", "remove needs the id; list shows it")
    const { id } = await schedules.remove(call.id)
    return { content: [{ type: "text" as const, text: `Removed: ${id}` }] }
  }
  const { text, in: span, at, cron, every } = call
  if (text === undefined) throw new AppError("bad-request", "add needs the text")
  const wish = { text, in: span, at, cron, every, session: isPrivate(context) ? "main" : "isolated" }
  const given = Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined))
  const made = await schedules.add(given as unknown as ScheduleWish, {
    source: "agent",
    by: `run:${context.runId}`,
    origin: context.origin,
    trusted: !context.tainted,
    route: context.route,
    agentId: context.agentId,
  })
  const next = made.nextAt === null ? "" : ` Next: ${timeText(made.nextAt, zone)} (${zone}).`
  return { content: [{ type: "text" as const, text: `Scheduled as ${made.id}: ${made.when}.${next}` }] }
}

/** In a group the owner's own conversation has no business. */
function isPrivate({ route }: ToolContext): boolean {
  return route === null || route.chatKind === "private"
}

function list(schedules: Schedules, zone: string) {
  const all = schedules.list({ ended: false }).map(({ id, when, state, nextAt, text, trusted }) => {
    const next = nextAt === null ? state : `next ${timeText(nextAt, zone)}`
    return { line: `${id}: ${when}, ${next}: ${text.slice(0, 200)}`, trusted }
  })
  const linesOf = (trusted: boolean) => all.filter((each) => each.trusted === trusted).map(({ line }) => line)
  const text = all.length === 0 ? "Nothing is scheduled." : linesOf(true).join("\n")
  // Written by turns that had read words of others.
  const foreign = linesOf(false).join("\n")
  return { content: [{ type: "text" as const, text }], ...(foreign === "" ? {} : { foreign }) }
}
