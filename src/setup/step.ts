// What the questions of a set-up have in common. Each looks what is there, asks until an answer works, and writes it.
import type { ConfigSnapshot } from "../config/index.ts"
import type { AppError } from "../kernel/index.ts"
import type { Conversation, GatewayLink, SetupAnswers, StepName } from "./contract.ts"
import type { Settings } from "./settings.ts"

export interface StepContext {
  settings: Settings
  answers: SetupAnswers
  /** Undefined where nobody can be asked: the first answer that does not work ends the set-up. */
  conversation: Conversation | undefined
  /** Progress, in one line. */
  say(line: string): void
  signal: AbortSignal
  /** Undefined while none runs. */
  gateway: GatewayLink | undefined
}

export interface Step {
  name: StepName
  title: string
  /** The options that answer it, for whoever cannot be asked. */
  flags: string
  isGiven(answers: SetupAnswers): boolean
  /** Undefined: not set up yet. */
  current(snapshot: ConfigSnapshot): string | undefined
  /** False: it does not come into question, as the owner of a gateway without a chat. */
  applies(snapshot: ConfigSnapshot): boolean
  /** Undefined: it does not apply. */
  run(context: StepContext): Promise<string | undefined>
}

/** A wrong answer: told and asked again, or thrown where nobody can be asked. */
export function tellWrong({ conversation, say }: StepContext, error: AppError): void {
  if (!conversation) throw error
  say(`  ${error.message}`)
  if (error.hint !== undefined) say(`  ${error.hint}`)
}

export async function confirm({ conversation }: StepContext, question: string, usual: boolean): Promise<boolean> {
  if (!conversation) return usual
  for (;;) {
    const answer = (await conversation.ask(`${question} [${usual ? "Y/n" : "y/N"}] `)).toLowerCase()
    if (answer === "") return usual
    if (answer === "y" || answer === "yes") return true
    if (answer === "n" || answer === "no") return false
    conversation.say("  Please answer y or n.")
  }
}
