// Who may use a command: one function for every way in (typed, from the menu, by a button). Who is somebody was decided
// when the message entered; whoever is let in only with all others has no say in how the agent works.
import type { ChatCommand, CommandSender } from "./contract.ts"

export function mayUse(
  command: Pick<ChatCommand, "access">,
  standing: Pick<CommandSender, "origin" | "isAuthorised">,
  options: { useAccessGroups: boolean },
): boolean {
  if (command.access === "owner") return standing.origin === "owner"
  return standing.isAuthorised || (command.access === "anyone" && !options.useAccessGroups)
}
