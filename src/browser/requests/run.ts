// The request of act `run`: a script of acts that is done without asking between. What its steps look like, and that they
// are what they must be, script/form.ts says.
import { z } from "zod"
import { type Json, type JsonObject, isJsonObject } from "../../kernel/index.ts"
import { clamped, fresh, target, word } from "./fields.ts"
import { parseRequest, withoutNulls } from "./parse.ts"

export const runRequest = z.object({
  ...target,
  kind: z.literal("run"),
  /** Looked at by the parser of scripts, whose errors name the step. */
  steps: z
    .unknown()
    .optional()
    .meta({
      type: "array",
      items: { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] },
      description:
        "Acts in the form of this route, each with a ref or with `find` (and `in`, `nth`); and `navigate`, `dialog`, `read`, `collect`, `set`, `if`, `repeat`, `stop`.",
    }),
  script: word.optional().describe("A kept script, in the place of steps."),
  keep: word.optional().describe("Keeps the script under this name when all of it was done."),
  values: z.record(z.string(), z.unknown()).default({}).describe("What `{{name}}` stands for in texts of the steps."),
  snapshot: fresh.snapshot.default("diff"),
  timeoutMs: clamped(1_000, 300_000, 60_000),
})
/** As it came in JSON. */
export type RunRequest = Omit<z.infer<typeof runRequest>, "values"> & { values: JsonObject }

export function isRun(body: Json): boolean {
  return isJsonObject(body) && body["kind"] === "run"
}

/** As `withoutNulls`, but for steps and values, in which null may be meant. */
export function runWithoutNulls(body: JsonObject): JsonObject {
  const { steps, values, ...rest } = body
  return {
    ...withoutNulls(rest),
    ...(steps === undefined || steps === null ? {} : { steps }),
    ...(values === undefined || values === null ? {} : { values }),
  }
}

/** Throws `bad-request`; steps are not looked at yet. */
export function parseRun(body: Json): RunRequest {
  return parseRequest(runRequest, body) as RunRequest
}
