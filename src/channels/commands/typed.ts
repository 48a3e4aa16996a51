// What an owner types into a chat of this gateway's own -> the jobs of the command that it is, and the words behind it
// that are meant for the agent. Who may use what is no question there.
import type { Ids } from "../../kernel/index.ts"
import type { NewJob } from "../../store/index.ts"
import type { CommandCall } from "./contract.ts"
import { commandJob } from "./job.ts"
import { afterResetWord, isStopWord, readCommand } from "./read.ts"
import { findCommand } from "./registry.ts"

export interface Typed {
  jobs: NewJob[]
  /** Undefined when nothing is left for the agent. */
  rest: string | undefined
}

export interface TypedOptions {
  ids: Ids
  isModel: (name: string) => boolean
  call: Omit<CommandCall, "command" | "args">
  /** `session.resetTriggers`, where they count. */
  resetWords?: readonly string[]
  /** A bare stop word ends the turn that runs. */
  isTurnRunning?: () => boolean
}

export function planTyped(text: string, options: TypedOptions): Typed {
  const { ids, call } = options
  const read = readCommand(text, { botName: undefined })
  const command = read.kind === "command" ? findCommand(read.name) : undefined
  if (read.kind !== "command" || !command) return planWords(text, options)
  if (command.name === "new" || command.name === "reset") return planFresh(command.name, read.args, options)
  const args = command.takesLines ? read.args : read.line
  return { jobs: [commandJob(ids.uuid(), command, { ...call, command: command.name, args })], rest: undefined }
}

function planWords(text: string, options: TypedOptions): Typed {
  const { ids, call, resetWords = [], isTurnRunning = () => false } = options
  const rest = afterResetWord(text, resetWords)
  if (rest !== undefined) return planFresh("new", rest, options)
  const stop = isStopWord(text) && isTurnRunning() ? findCommand("stop") : undefined
  if (!stop) return { jobs: [], rest: text }
  return { jobs: [commandJob(ids.uuid(), stop, { ...call, command: stop.name, args: "" })], rest: undefined }
}

/** A model and the first message may follow. */
function planFresh(name: string, args: string, { ids, isModel, call }: TypedOptions): Typed {
  const command = findCommand(name)
  if (!command) return { jobs: [], rest: args }
  const [word = ""] = args.split(/\s/, 1)
  const model = word !== "" && isModel(word) ? word : ""
  const rest = args.slice(model.length).trim()
  const fresh = commandJob(ids.uuid(), command, { ...call, command: command.name, args: model })
  return { jobs: [fresh], rest: rest === "" ? undefined : rest }
}
