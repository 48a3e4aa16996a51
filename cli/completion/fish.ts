// The completion script for fish.
import type { CommandNode } from "../command-tree.ts"
import { listEntries } from "./entries.ts"

export function fishCompletion(tree: CommandNode): string {
  const entries = listEntries(tree)
  const paths = entries.filter(({ path }) => path !== "").map(({ path }) => quote(path))
  const lines = entries.flatMap(({ path, words }) =>
    words.map(({ word, description, isOption }) => {
      const what = isOption ? `-l ${word.slice(2)}` : `-f -a ${quote(word)}`
      return `complete -c svc -n ${quote(`__svc_at ${quote(path)}`)} ${what} -d ${quote(description)}`
    }),
  )
  return `# fish completion of svc; load it with: svc completion fish | source
set -g __svc_paths ${paths.join(" ")}

function __svc_at
    set -l route ""
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$route $word")
        if contains -- "$next" $__svc_paths
            set route "$next"
        end
    end
    test "$route" = "$argv[1]"
end

${lines.join("\n")}
`
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}
