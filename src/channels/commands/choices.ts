// A command that needs a choice and was given none answers with buttons: a touch runs the command with that choice, with
// the rights of whoever touches.
import type { ReplyButton } from "../../delivery/contract.ts"

const perRow = 2

export function choiceButtons(command: string, choices: readonly { label: string; args: string }[]): ReplyButton[][] {
  const buttons = choices.map(({ label, args }): ReplyButton => ({
    text: label,
    data: `/${command} ${args}`,
    runs: true,
  }))
  const rows: ReplyButton[][] = []
  for (let start = 0; start < buttons.length; start += perRow) rows.push(buttons.slice(start, start + perRow))
  return rows
}

/** The choice that was written, whatever its case; undefined when it is none of them. */
export function readChoice<T extends string>(args: string, choices: readonly T[]): T | undefined {
  const wanted = args.trim().toLowerCase()
  return choices.find((choice) => choice === wanted)
}
