// Where a call of the agent would go, and why.
import type { Reply } from "../contract.ts"
import { type CommandSpec, plain } from "./command.ts"

export const explainCommand: CommandSpec = {
  usage: "explain",
  description: "Say which machine's browser a call of the agent would go to, and why",
  example: "svc browser explain --target node --node studio",
  json: "Explanation",
  flags: [
    ["--target <target>", "as the agent would say it", ["sandbox", "host", "node"]],
    ["--agent <id>", "whose sandbox settings count (default: main)"],
    ["--for <whom>", "in whose turn (default: owner)", ["owner", "others"]],
  ],
  perform: async ({ send, io, options }) => {
    const { target, node, agent, for: whom, browserProfile } = options
    const query = { target, node, agent, for: whom, profile: browserProfile } as Record<string, string | undefined>
    const reply = await send<Reply<"Explanation">>("GET", "/explain", { query })
    return { reply, show: () => io.print(wordsOf(reply, io.named)) }
  },
}

const places = {
  host: "the browser of the gateway's machine",
  sandbox: "a browser of the session's own, in a sandbox",
  none: "nowhere: it would be refused",
}

function wordsOf(
  { place, node, why, hint, mode, nodes }: Reply<"Explanation">,
  named: (text: string) => string,
): string {
  const where = place === "node" ? `the browser of the node ${node ?? ""}` : places[place]
  const lines = [`a call would go to: ${where}`, `because: ${plain(why)}`]
  if (hint !== null) lines.push(named(`hint: ${plain(hint)}`))
  const offers = nodes.map(({ name, profiles }) => `${name} (${profiles.join(", ")})`)
  lines.push(`gateway.nodes.browser.mode: ${mode}`, `nodes with a browser: ${plain(offers.join("; ")) || "none"}`)
  lines.push(named("svc browser itself uses the gateway's machine, unless --node names another one"))
  return lines.join("\n")
}
