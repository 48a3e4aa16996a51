// The completion script for zsh; works from a folder of $fpath (as `_svc`) and when sourced.
import type { CommandNode } from "../command-tree.ts"
import { listChoices, listEntries } from "./entries.ts"
import { inQuotes as quote } from "../../src/kernel/shell-word.ts"

export function zshCompletion(tree: CommandNode): string {
  const entries = listEntries(tree)
  const paths = entries.filter(({ path }) => path !== "").map(({ path }) => `      ${quote(path)}) route=$next ;;`)
  const words = entries.map((entry) => `    ${quote(entry.path)}) entries=(${entry.words.map(describe).join(" ")}) ;;`)
  const choices = listChoices(tree).map(
    ({ path, flag, choices: values }) => `    ${quote(`${path} ${flag}`)}) entries=(${values.map(quote).join(" ")}) ;;`,
  )
  return `#compdef svc
# zsh completion of svc; load it with: source <(svc completion zsh)
_svc() {
  local route="" next="" index
  local -a entries
  for ((index = 2; index < CURRENT; index++)); do
    next="\${route:+$route }\${words[index]}"
    case "$next" in
${paths.join("\n")}
    esac
  done
  case "$route" in
${words.join("\n")}
  esac
  case "$route \${words[CURRENT - 1]}" in
${choices.join("\n")}
  esac
  _describe 'svc' entries || _files
}
if [[ "\${funcstack[1]}" == "_svc" ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`
}

function describe({ word, description }: { word: string; description: string }): string {
  return quote(`${word}:${description.replaceAll(":", "\\:")}`)
}
