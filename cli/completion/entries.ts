// What can follow a command, as the shells need it: words with a description, per path of commands.
import type { CommandNode } from "../command-tree.ts"

export interface CompletionEntry {
  /** Words after `svc`, joined by a space; empty for the program itself. */
  path: string
  words: { word: string; description: string; isOption: boolean }[]
}

export function listEntries(node: CommandNode): CompletionEntry[] {
  const commands = node.commands.map(({ path, description }) => ({
    word: path.at(-1) ?? "",
    description: oneLine(description),
    isOption: false,
  }))
  const options = node.options.flatMap(({ flags, description }) =>
    flags
      .filter((flag) => flag.startsWith("--"))
      .map((word) => ({ word, description: oneLine(description), isOption: true })),
  )
  return [{ path: node.path.join(" "), words: [...commands, ...options] }, ...node.commands.flatMap(listEntries)]
}

/** `path option` of every option with fixed values, with those values. */
export function listChoices(node: CommandNode): { path: string; flag: string; choices: string[] }[] {
  const own = node.options.flatMap(({ flags, choices }) =>
    choices.length === 0 ? [] : flags.map((flag) => ({ path: node.path.join(" "), flag, choices })),
  )
  return [...own, ...node.commands.flatMap(listChoices)]
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}
