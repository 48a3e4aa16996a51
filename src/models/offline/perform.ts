// Commands -> tool calls, as a generator: it yields what it needs done and is resumed with the outcome. The caller
// replays the outcomes already in the conversation, so that no state is kept between the steps of a turn.
import type { JsonObject } from "../../kernel/index.ts"
import type { Command } from "./commands.ts"
import { fullHelp, shortHelp } from "./help.ts"
import { quoteForeign, type Observation } from "./reading.ts"
import { reminderOrder } from "./reminders.ts"
import { findBasketButton, findClickable, findTextField, parseSnapshot, readableText, type Found } from "./snapshot.ts"

export type Need =
  | { kind: "call"; tool: string; input: JsonObject }
  | { kind: "wait"; seconds: number }
  | { kind: "think"; text: string }

export type Performance = Generator<Need, string, Observation | undefined>

const maxPageText = 1500

/** A command that could not be done; its message is told to the person and the commands after it are left. */
class CommandStop extends Error {}

/** The tab that this turn opened, so that later commands stay in it. */
interface Place {
  targetId?: string
}

type Work = Generator<Need, string, Observation | undefined>

/** Runs the commands in order and returns the final text. */
export function* perform(commands: readonly Command[]): Performance {
  const lines: string[] = []
  const place: Place = {}
  for (const [index, command] of commands.entries()) {
    try {
      lines.push(yield* performOne(command, place))
    } catch (error) {
      if (!(error instanceof CommandStop)) throw error
      lines.push(error.message)
      const left = commands.length - index - 1
      if (left > 0) lines.push(`I stopped there; ${left === 1 ? "one command is" : `${left} commands are`} not done.`)
      break
    }
  }
  return lines.filter((line) => line !== "").join("\n")
}

function* performOne(command: Command, place: Place): Work {
  switch (command.kind) {
    case "open": {
      const result = yield* browser(`I could not open ${command.url}`, { action: "open", targetUrl: command.url })
      const targetId = /"?targetId"?\s*[:=]\s*"?([A-Za-z0-9_-]+)/.exec(result.text)?.[1]
      if (targetId !== undefined) place.targetId = targetId
      return `Opened ${command.url}.`
    }
    case "read": {
      const words = readableText((yield* snapshot(place, { mode: "full" })).text, maxPageText)
      return words === "" ? "The page holds no text." : `The page says:\n${quoteForeign(words)}`
    }
    case "click":
    case "add":
      return yield* click(command, place)
    case "type": {
      const elements = parseSnapshot((yield* snapshot(place)).text)
      const field = expectOne(findTextField(elements, command.name), "text field", command.name)
      yield* act(`I could not type into "${command.name}"`, { kind: "type", ref: field.ref, text: command.text }, place)
      return `Typed "${command.text}" into "${quoteForeign(field.name)}".`
    }
    case "press":
      yield* act(`I could not press ${command.key}`, { kind: "press", key: command.key }, place)
      return `Pressed ${command.key}.`
    case "screenshot": {
      const result = yield* browser("I could not take a picture", { action: "screenshot", ...place })
      const media = result.ownText.split("\n").filter((line) => line.startsWith("MEDIA:"))
      return ["Here is the picture.", ...media].join("\n")
    }
    case "tabs":
      return `Tabs:\n${quoteForeign((yield* browser("I could not list the tabs", { action: "tabs" })).text)}`
    case "say":
      return command.text
    case "think":
      yield { kind: "think", text: command.text }
      return ""
    case "wait":
      yield { kind: "wait", seconds: command.seconds }
      return `Waited ${command.seconds} s.`
    case "remind":
    case "remind-when":
    case "reminders":
    case "forget":
      return yield* remind(command)
    case "help":
      return fullHelp
    case "unknown":
      throw new CommandStop(`I did not understand "${command.text}". ${shortHelp}`)
  }
}

function* click(command: { kind: "click" | "add"; name: string }, place: Place): Work {
  const direct = command.kind === "click" ? /^(?:ref\s+(?:e?\d+)|e\d+)$/i.exec(command.name) : null
  if (direct) {
    const ref = command.name.replace(/^ref\s+/i, "").toLowerCase()
    yield* act(`I could not click ref ${ref}`, { kind: "click", ref }, place)
    return `Clicked ref ${ref}.`
  }
  const elements = parseSnapshot((yield* snapshot(place)).text)
  const found =
    command.kind === "add"
      ? expectOne(findBasketButton(elements, command.name), "basket button", command.name)
      : expectOne(findClickable(elements, command.name), "button or link", command.name)
  yield* act(`I could not click "${quoteForeign(found.name)}"`, { kind: "click", ref: found.ref }, place)
  return `Clicked "${quoteForeign(found.name)}".`
}

function expectOne(found: Found, what: string, name: string): { ref: string; name: string } {
  if (found.kind === "one") return found
  if (found.kind === "none") throw new CommandStop(`I found no ${what} named "${name}" on the page.`)
  const shown = found.names.slice(0, 10).map((each) => `- ${quoteForeign(each)}`)
  if (found.names.length > shown.length) shown.push(`- and ${found.names.length - shown.length} more`)
  throw new CommandStop(`"${name}" fits several things on the page; say which one you mean:\n${shown.join("\n")}`)
}

function* snapshot(place: Place, how: JsonObject = {}): Generator<Need, Observation, Observation | undefined> {
  return yield* browser("I could not read the page", { action: "snapshot", ...how, ...place })
}

function* act(
  failure: string,
  request: JsonObject,
  place: Place,
): Generator<Need, Observation, Observation | undefined> {
  return yield* browser(failure, { action: "act", ...place, request })
}

function* browser(failure: string, input: JsonObject): Generator<Need, Observation, Observation | undefined> {
  const result = yield { kind: "call", tool: "browser", input }
  if (!result) throw new CommandStop(`${failure}: I have no browser tool in this run.`)
  return checked(failure, result)
}

type AboutReminders = Extract<Command, { kind: "remind" | "remind-when" | "reminders" | "forget" }>

function* remind(command: AboutReminders): Work {
  switch (command.kind) {
    case "remind": {
      const made = yield* schedule("I could not note the reminder", {
        action: "add",
        text: reminderOrder(command),
        ...command.time,
      })
      const id = /^Scheduled as ([\w-]+):/m.exec(made.ownText)?.[1] ?? ""
      const next = / Next: ([^\n]{1,100})\.$/m.exec(made.ownText)?.[1]
      const of = command.text === "" ? "" : `: ${command.text}`
      return `I shall remind you${next === undefined ? "" : ` at ${next}`}${of}\nTo take it back: cancel reminder ${id}`
    }
    case "remind-when":
      throw new CommandStop(
        "I did not understand when. Say it like this: remind me in 20 minutes to call Ada; remind me at 18:00 to eat.",
      )
    case "reminders": {
      const all = yield* schedule("I could not look at the reminders", { action: "list" })
      return quoteForeign(all.text)
    }
    case "forget":
      yield* schedule(`I could not cancel the reminder ${command.id}`, { action: "remove", id: command.id })
      return `Cancelled the reminder ${command.id}.`
  }
}

function* schedule(failure: string, input: JsonObject): Generator<Need, Observation, Observation | undefined> {
  const result = yield { kind: "call", tool: "schedule", input }
  if (!result)
    throw new CommandStop(`${failure}: that is for this agent's owners, and I have no schedules in this run.`)
  return checked(failure, result)
}

function checked(failure: string, result: Observation): Observation {
  if (result.isError) throw new CommandStop(`${failure}: ${quoteForeign(result.text).slice(0, 500)}`)
  return result
}
