// The turn that is told how an owner has answered a question (agent/approval-turn): allowed -> exactly that call, once. The
// words are ours, the call is the one that the answer is for: the gate compares it, whoever thought of it.
import { AppError, type Json, type JsonObject, isJsonObject, parseJson } from "../../kernel/index.ts"
import type { Performance } from "./perform.ts"
import { type SplitText, quoteForeign } from "./reading.ts"

const allowed = /^Your owner has allowed the call below: once, exactly as it stands/m
const denied = /^Your owner has denied the call below/m
const expired = /^Nobody has answered the question about the call below/m
const toolLine = /^The call of the tool ([\w-]{1,64}):$/m

/** What is left to say or to do; undefined when the task is another one. */
export function answeredQuestion({ own, foreign }: SplitText): string | Performance | undefined {
  if (denied.test(own)) return "Not done: you have denied it."
  if (expired.test(own)) return "Not done: nobody answered in time."
  const tool = allowed.test(own) ? toolLine.exec(own)?.[1] : undefined
  const input = readCall(foreign[0])
  return tool === undefined || input === undefined ? undefined : make(tool, input)
}

function readCall(text = ""): JsonObject | undefined {
  try {
    const call: Json = parseJson(text)
    return isJsonObject(call) ? call : undefined
  } catch (error) {
    // What looked like a boundary was taken out of it, so it is no call any more.
    if (error instanceof AppError && error.code === "bad-json") return undefined
    throw error
  }
}

function* make(tool: string, input: JsonObject): Performance {
  const result = yield { kind: "call", tool, input }
  if (!result) return `Not done: I have no tool ${tool} in this run.`
  return `${result.isError ? "Not done" : "Done"}: ${quoteForeign(result.text).slice(0, 500)}`
}
