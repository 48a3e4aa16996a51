// The completion script for bash: finds the path of commands before the cursor, then offers what may follow it.
import type { CommandNode } from "../command-tree.ts"
import { listChoices, listEntries } from "./entries.ts"
import { inQuotes as quote } from "../../src/kernel/shell-word.ts"

export function bashCompletion(tree: CommandNode): string {
  const entries = listEntries(tree)
  const paths = entries.filter(({ path }) => path !== "").map(({ path }) => `      ${quote(path)}) path=$next ;;`)
  const words = entries.map((entry) => `    ${quote(entry.path)}) words=${quote(join(entry.words))} ;;`)
  const choices = listChoices(tree).map(
    ({ path, flag, choices: values }) => `    ${quote(`${path} ${flag}`)}) words=${quote(values.join(" "))} ;;`,
  )
  return `# bash completion of svc; load it with: source <(svc completion bash)
_svc() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path="" words="" next index
  for ((index = 1; index < COMP_CWORD; index++)); do
    next="\${path:+$path }\${COMP_WORDS[index]}"
    case "$next" in
${paths.join("\n")}
    esac
  done
  case "$path" in
${words.join("\n")}
  esac
  case "$path $previous" in
${choices.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
`
}

function join(words: readonly { word: string }[]): string {
  return words.map(({ word }) => word).join(" ")
}
