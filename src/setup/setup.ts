// `svc setup`: model -> bot -> browser -> owner, each asked until an answer works and written at once, so that a set-up that
// was ended half-way goes on where it stopped. Run again it shows what is there and changes one thing.
import { existsSync } from "node:fs"
import type { Variables } from "../config/index.ts"
import { AppError, makeFolder } from "../kernel/index.ts"
import { botStep } from "./bot.ts"
import { browserStep } from "./browser.ts"
import type { Conversation, GatewayLink, SetupAnswers, SetupReport } from "./contract.ts"
import { modelStep } from "./model.ts"
import { ownerStep } from "./owner.ts"
import { type Settings, openSettings } from "./settings.ts"
import type { Step, StepContext } from "./step.ts"

export type * from "./contract.ts"

const steps: readonly Step[] = [modelStep, botStep, browserStep, ownerStep]

export interface SetupOptions {
  variables: Variables
  answers: SetupAnswers
  /** Undefined without a terminal. */
  conversation: Conversation | undefined
  say(line: string): void
  signal: AbortSignal
  gateway: GatewayLink | undefined
}

/** Throws `bad-request`, naming what must be passed, where nobody can be asked; `config-invalid`; `aborted`. */
export async function runSetup(options: SetupOptions): Promise<SetupReport> {
  const { variables, answers, ...rest } = options
  const settings = openSettings(variables)
  makeFolder(settings.stateFolder)
  const context: StepContext = { settings, answers, ...rest }
  const before = settings.read()
  const wasComplete = steps.every((step) => step.current(before) !== undefined || !step.applies(before))
  const chosen = await choose(context)
  const changed: Step[] = []
  for (const step of chosen) {
    // A bot that was switched off just now has no owner to ask for.
    if (chosen.length > 1 && !step.applies(settings.read())) continue
    if (options.conversation) options.say(`\n${step.title}`)
    if ((await step.run(context)) !== undefined) changed.push(step)
  }
  return { ...report(settings, changed), wasComplete }
}

function report(settings: Settings, changed: readonly Step[]): Omit<SetupReport, "wasComplete"> {
  const snapshot = settings.read()
  const told = steps
    .map((step) => [step.name, step.current(snapshot)] as const)
    .filter(([, words]) => words !== undefined)
  return {
    settings: Object.fromEntries(told),
    changed: changed.map(({ name }) => name),
    stateFolder: settings.stateFolder,
    configPath: settings.configPath,
    envPath: settings.envPath,
  }
}

/** What was given as an option; else what is not set up yet; else what the person wants to change. */
async function choose(context: StepContext): Promise<Step[]> {
  const { settings, answers, conversation, say } = context
  const snapshot = settings.read()
  const given = steps.filter((step) => step.isGiven(answers))
  const open = steps.filter((step) => !given.includes(step) && step.current(snapshot) === undefined)
  const hasChat =
    answers.botToken !== "none" && (snapshot.config.channels.chatapp.enabled || answers.botToken !== undefined)
  const wanted = hasChat ? open : open.filter((step) => step !== ownerStep)
  if (!conversation) {
    if (wanted.length > 0) throw passThese(wanted)
    return steps.filter((step) => given.includes(step))
  }
  if (existsSync(settings.configPath)) {
    say(`What is there, in ${settings.configPath}:`)
    for (const step of steps) say(`  ${step.title.padEnd(8)} ${step.current(snapshot) ?? "-"}`)
  } else say(`Nothing is set up yet. The answers go to ${settings.configPath}, keys and tokens to ${settings.envPath}.`)
  if (given.length > 0 || wanted.length > 0)
    return steps.filter((step) => given.includes(step) || wanted.includes(step))
  return await askWhatToChange(conversation)
}

function passThese(wanted: readonly Step[]): AppError {
  const flags = wanted.map(({ flags: words }) => words)
  return new AppError("bad-request", "There is no terminal to ask on", { hint: `Pass: svc setup ${flags.join(" ")}` })
}

async function askWhatToChange(conversation: Conversation): Promise<Step[]> {
  const names = steps.map(({ name }) => name)
  for (;;) {
    const answer = await conversation.ask(`Change which? (${names.join(", ")}; Enter: nothing) `)
    if (answer === "") return []
    const step = steps.find(({ name }, index) => name === answer.toLowerCase() || String(index + 1) === answer)
    if (step) return [step]
    conversation.say(`  There is: ${names.join(", ")}`)
  }
}
