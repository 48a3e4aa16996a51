// The reference of all chat commands, written from the commands themselves: docs/reference/chat-commands.md.
import type { ChatCommand, CommandAccess } from "./contract.ts"
import { nativeCommands } from "./registry.ts"

const accesses: Record<CommandAccess, string> = {
  anyone: "people of standing; with `commands.useAccessGroups` off everybody who is heard",
  authorised: "people of standing",
  owner: "owners",
}

export function renderCommandReference(): string {
  const rows = nativeCommands.map((command) => {
    const cells = [nameOf(command), command.summary, accessOf(command), placeOf(command), timeOf(command)]
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  })
  return `# Chat commands

This page is generated from the commands by \`scripts/generate-command-docs.ts\`; change the commands, not the page.

People of standing are those of \`allowFrom\`, those let in by pairing, and in a group those that its own list names, as far as they are heard there at all; \`*\` names nobody. Owners are listed by id in \`allowFrom\`. A command that runs *at once* overtakes whatever the session does; one that runs *in turn* waits for the messages before it.

| command | what it does | for | where | when |
|---|---|---|---|---|
${rows.join("\n")}
`
}

function nameOf({ name, aliases, usage }: ChatCommand): string {
  const others = aliases ? ` (also ${aliases.map((alias) => `\`/${alias}\``).join(", ")})` : ""
  return `\`/${name}${usage === undefined ? "" : ` ${usage}`}\`${others}`
}

/** A command that tells those whom it refuses, and is for anyone, answers everybody. */
function accessOf({ access, tellsRefused }: ChatCommand): string {
  return access === "anyone" && tellsRefused ? "everybody who is heard" : accesses[access]
}

function placeOf({ where }: ChatCommand): string {
  return where === undefined ? "everywhere" : where === "private" ? "private chats" : "groups"
}

function timeOf({ time }: ChatCommand): string {
  if (typeof time === "function") return "at once to ask, in turn to change"
  return time === "now" ? "at once" : "in turn"
}
