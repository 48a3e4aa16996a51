// Schedules and their times.
import { z } from "zod"
import { define, nothing, wishKey } from "./endpoint.ts"

const word = z.string().trim().min(1).max(400)
const id = z.object({ id: z.string().trim().min(1).max(64) })

const occurrence = z.object({
  /** Milliseconds since the epoch. */
  scheduledAt: z.number(),
  runId: z.string().nullable(),
  /** `ok`: it has run, and what it said has arrived. */
  state: z.enum(["ok", "waiting", "running", "sending", "failed", "skipped"]),
  detail: z.string(),
})

const summary = z.object({
  id: z.string(),
  name: z.string(),
  source: z.enum(["config", "cli", "agent"]),
  /** In words. */
  when: z.string(),
  text: z.string(),
  agentId: z.string(),
  session: z.enum(["main", "isolated"]),
  goesTo: z.string(),
  missed: z.enum(["late", "skip", "each"]),
  state: z.enum(["active", "paused", "ended"]),
  /** Whether nobody but people of standing has written the text. */
  trusted: z.boolean(),
  nextAt: z.number().nullable(),
  last: occurrence.nullable(),
})

const detail = summary.extend({
  createdAt: z.number(),
  createdBy: z.string(),
  graceMinutes: z.number(),
  /** Newest first. */
  occurrences: z.array(occurrence),
})

export const scheduleEndpoints = define({
  "GET /api/schedules": {
    summary: "Lists schedules with their next and last times",
    query: z.object({ ended: z.enum(["true", "false", "1", "0"]).default("false") }),
    reply: z.object({ schedules: z.array(summary) }),
  },
  "POST /api/schedules": {
    summary: "Makes a schedule, by exactly one of `cron`, `every`, `at` and `in`",
    body: z.strictObject({
      text: z.string().trim().min(1).max(20_000),
      name: word.optional(),
      cron: word.optional(),
      every: word.optional(),
      at: word.optional(),
      in: word.optional(),
      timezone: word.optional(),
      agent: word.optional(),
      session: z.enum(["main", "isolated"]).optional(),
      deliver: z.boolean().optional(),
      channel: word.optional(),
      to: word.optional(),
      account: word.optional(),
      missed: z.enum(["late", "skip", "each"]).optional(),
      graceMinutes: z.int().min(1).max(10_080).optional(),
      wakeMode: z.enum(["now", "next-heartbeat"]).optional(),
      model: word.optional(),
      timeoutSeconds: z.int().min(1).max(86_400).optional(),
      key: wishKey,
    }),
    reply: detail,
  },
  "GET /api/schedules/:id": { summary: "Shows a schedule with its newest times", params: id, reply: detail },
  "POST /api/schedules/:id/run": {
    summary: "Runs a schedule once, at once",
    params: id,
    body: z.strictObject({ key: wishKey }),
    reply: z.object({ runId: z.string(), schedule: detail }),
  },
  "POST /api/schedules/:id/pause": { summary: "Pauses a schedule", params: id, body: nothing, reply: detail },
  "POST /api/schedules/:id/resume": {
    summary: "Lets a paused schedule go on, from its next time",
    params: id,
    body: nothing,
    reply: detail,
  },
  "POST /api/schedules/:id/remove": {
    summary: "Ends a schedule; what it has done stays known",
    params: id,
    body: nothing,
    reply: detail,
  },
})
