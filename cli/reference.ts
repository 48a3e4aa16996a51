// docs/reference/cli.md as text: the rules that hold for all commands, then the help of each. Written by
// scripts/generate-cli-docs.ts; a test holds the file to it.
import { readCommandTree, type CommandNode } from "./command-tree.ts"
import type { CliContext } from "./context.ts"

const introduction = `# The command line

Generated from the program by \`node scripts/generate-cli-docs.ts\`; do not edit.

- **Exit codes**: 0 done, 1 failed, 2 the command line or a value in it is wrong, 130 stopped by Ctrl-C.
- **Errors** are two lines on stderr, \`error: what happened\` and \`hint: the next step\`. With \`--json\` they are one
  object on stdout instead: \`{"ok": false, "error": {"code", "message", "hint"}}\`, with the codes of the error table.
- **\`--json\`** prints the answer of the gateway as it is, and nothing else, on stdout. Progress and advice go to stderr.
- **Environment**: \`SVC_STATE_DIR\` (state folder, \`~/.svc\`), \`SVC_CONFIG_PATH\` (\`svc.json\` in the state folder),
  \`SVC_GATEWAY_PORT\` (port of the gateway), \`SVC_RUNTIME_DIR\` (where the gateways of one user find each other),
  \`NO_COLOR\` (no colours; there are none outside a terminal anyway).
- Commands find the running gateway by \`gateway.json\` in the state folder, which also names the file of its token.
`

export async function renderReference(context: CliContext): Promise<string> {
  const tree = await readCommandTree(context)
  return `${introduction}\n${renderNode(tree)}`
}

function renderNode(node: CommandNode): string {
  const level = "#".repeat(Math.min(2 + Math.max(0, node.path.length - 1), 4))
  const section = `${level} ${["svc", ...node.path].join(" ")}\n\n\`\`\`text\n${node.help}\`\`\`\n`
  return [section, ...node.commands.map(renderNode)].join("\n")
}
