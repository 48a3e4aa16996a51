// `/queue`: what becomes of messages that come while the agent works, in this session.
import { durationMs } from "../../../kernel/duration.ts"
import { AppError } from "../../../kernel/index.ts"
import type { QueueChoice, QueueDrop, QueueMode } from "../../../sessions/queue-choice.ts"
import type { QueueSettings } from "../../queue.ts"
import { choiceButtons } from "../choices.ts"
import type { ChatCommand, CommandCall, CommandServices } from "../contract.ts"
import { changeSettings } from "../settings.ts"

const modes: Record<QueueMode, string> = {
  collect: "what comes while I work is answered together, in one next turn",
  followup: "each message gets a turn of its own, one after the other",
  steer: "what comes while I work goes into the work under way, at its next step",
  "steer-backlog": "what comes while I work goes into the work under way, and gets a turn of its own too",
  interrupt: "a new message stops the work under way and is answered at once",
}
const modeNames = Object.keys(modes) as QueueMode[]
const drops: readonly QueueDrop[] = ["summarize", "old", "new"]
const usage = "<mode> [debounce:2s] [cap:20] [drop:summarize|old|new] | reset"
const maxDebounceMs = 600_000
const maxCap = 1_000

export const queue: ChatCommand = {
  name: "queue",
  summary: "Shows or sets what becomes of messages that come while the agent works",
  usage,
  access: "authorised",
  // It is asked and changed while the agent works.
  time: "now",
  run(call, services) {
    const words = call.args.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return show(call, services)
    if (words[0] === "reset" || words[0] === "default") {
      if (words.length > 1) throw wrong(`/queue ${words[0]} takes nothing more`)
      return {
        text: `From now on messages here wait as configured: ${describe(services.queue.configured(call.route))}`,
        commit: (write) => changeSettings(services.sessions, write, call, { queue: undefined }),
      }
    }
    const choice = { ...services.sessions.find(call.sessionKey)?.settings.queue, ...read(words) }
    return {
      text: `From now on: ${describe({ ...services.queue.configured(call.route), ...choice })}`,
      commit: (write) => changeSettings(services.sessions, write, call, { queue: choice }),
    }
  },
}

function show(call: CommandCall, services: CommandServices) {
  const choice = services.sessions.find(call.sessionKey)?.settings.queue
  const settings = { ...services.queue.configured(call.route), ...choice }
  const { running, waiting } = services.lanes.count(call.sessionKey)
  const by = choice === undefined ? "as configured" : "set for this session; `/queue reset` takes it back"
  return {
    text: `${describe(settings)}\nThat is ${by}. ${running} under way, ${waiting} waiting.`,
    buttons: choiceButtons(
      "queue",
      modeNames.map((mode) => ({ label: mode, args: mode })),
    ),
  }
}

function describe({ mode, debounceMs, cap, drop }: QueueSettings): string {
  const pause =
    mode === "interrupt" || debounceMs === 0 ? "" : ` What waits is taken up after a pause of ${debounceMs / 1000} s.`
  const full = {
    summarize: "the oldest is dropped, and a line of it kept",
    old: "the oldest is dropped",
    new: "the newest is refused",
  }
  return `\`${mode}\`: ${modes[mode]}.${pause} At most ${cap} of a person wait; beyond that ${full[drop]}, which you are told.`
}

function read(words: readonly string[]): QueueChoice {
  const choice: QueueChoice = {}
  for (const word of words) {
    const [name = "", value] = word.split(/[:=]/, 2)
    if (value === undefined) {
      const mode = name === "queue" ? "steer" : modeNames.find((each) => each === name)
      if (!mode) throw wrong(`${JSON.stringify(word.slice(0, 40))} is no mode`)
      if (choice.mode !== undefined) throw wrong("Only one mode can be set")
      choice.mode = mode
    } else readOption(choice, name, value)
  }
  return choice
}

function readOption(choice: QueueChoice, name: string, value: string): void {
  if (name === "debounce") {
    // A bare number counts milliseconds here, as in the configuration.
    const ms = /^\d{1,9}$/.test(value) ? Number(value) : durationMs(value)
    if (ms === undefined || ms > maxDebounceMs)
      throw wrong(`debounce must be a time up to ${maxDebounceMs / 60_000}m, such as 2s`)
    choice.debounceMs = Math.round(ms)
  } else if (name === "cap") {
    const cap = /^\d{1,9}$/.test(value) ? Number(value) : 0
    if (cap < 1 || cap > maxCap) throw wrong(`cap must be a whole number from 1 to ${maxCap}`)
    choice.cap = cap
  } else if (name === "drop") {
    const drop = drops.find((each) => each === value || (each === "summarize" && value === "summarise"))
    if (!drop) throw wrong(`drop must be one of ${drops.join(", ")}`)
    choice.drop = drop
  } else throw wrong(`There is no option ${JSON.stringify(name.slice(0, 40))}`)
}

function wrong(message: string): AppError {
  return new AppError("bad-request", `${message}.`, { hint: `Modes: ${modeNames.join(", ")}. Use: /queue ${usage}` })
}
