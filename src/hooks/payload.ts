// The payloads of the built-in endpoints: JSON body -> action, or a `bad-request` that names the field.
// Fields that are null count as left out; fields that nobody knows are ignored.
import { z } from "zod"
import { AppError, type Json, isJsonObject } from "../kernel/index.ts"
import { unnamedHook } from "../agent/turn-input.ts"
import type { AgentAction, WakeAction, WakeMode } from "./action.ts"

const maxNameCharacters = 100
/** A week: longer than any sensible run, and within what a timer can wait. */
const maxTimeoutSeconds = 604_800
export const thinkingLevels = ["off", "minimal", "low", "medium", "high"] as const

const mustBeText = { error: "must be a string" }

const requiredText = z
  .string({ error: (issue) => (issue.input === undefined ? "is required" : "must be a string") })
  .trim()
  .min(1, { error: "is required: it must not be blank" })

/** Absent or blank text becomes undefined. */
const optionalText = z
  .string(mustBeText)
  .trim()
  .transform((text) => (text === "" ? undefined : text))
  .optional()

// Senders that know other modes send other words here; only the exact one defers.
const wakeMode = z
  .string(mustBeText)
  .optional()
  .transform((value): WakeMode => (value === "next-heartbeat" ? "next-heartbeat" : "now"))

const wakeSchema = z.object({ text: requiredText, mode: wakeMode })

const agentSchema = z.object({
  message: requiredText,
  name: z.string(mustBeText).default(unnamedHook).transform(cleanName),
  sessionKey: optionalText,
  wakeMode,
  // By the specification everything but `false` itself delivers, the word "false" too.
  deliver: z
    .unknown()
    .optional()
    .transform((value) => value !== false),
  channel: z
    .string(mustBeText)
    .trim()
    .toLowerCase()
    .default("last")
    .transform((name) => (name === "" ? "last" : name)),
  to: z
    .union([z.string(), z.int()], { error: "must be a string or a whole number" })
    .transform((value) => String(value).trim() || undefined)
    .optional(),
  model: z.string(mustBeText).trim().min(1, { error: "must not be blank" }).optional(),
  thinking: z
    .string(mustBeText)
    .trim()
    .toLowerCase()
    .pipe(z.enum(["", ...thinkingLevels], { error: `must be one of ${thinkingLevels.join(", ")}` }))
    .transform((level) => (level === "" ? undefined : level))
    .optional(),
  timeoutSeconds: z.number({ error: "must be a number" }).optional().transform(toTimeout),
})

export function wakeAction(body: Json): WakeAction {
  return { kind: "wake", ...parse(wakeSchema, body) }
}

export function agentAction(body: Json): AgentAction {
  const { sessionKey, to, model, thinking, ...rest } = parse(agentSchema, body)
  return { kind: "agent", ...rest, sessionKey, to, model, thinking }
}

function parse<T>(schema: z.ZodType<T>, body: Json): T {
  if (!isJsonObject(body)) throw new AppError("bad-request", "The body must be a JSON object")
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`)
  throw new AppError("bad-request", problems.join("; "), { hint: "The fields are listed in docs/guides/webhooks.md" })
}

/** The name stands in summaries, so it may not break out of its line or hide anything. */
export function cleanName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, " ").trim()
  const short = Array.from(line).slice(0, maxNameCharacters).join("").trim()
  return short === "" ? unnamedHook : short
}

/** In whole seconds; zero and less leave the configured limit in force. */
function toTimeout(seconds: number | undefined): number | undefined {
  if (seconds === undefined || seconds <= 0) return undefined
  return Math.min(Math.max(1, Math.floor(seconds)), maxTimeoutSeconds)
}
