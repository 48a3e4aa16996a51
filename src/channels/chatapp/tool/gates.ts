// What the configuration lets the agent do by tool: `channels.chatapp.actions.*`, and `reactionLevel` for reactions.
import type { AccountSettings } from "../settings.ts"

export type Gate = "sendMessage" | "editMessage" | "deleteMessage" | "reactions" | "sticker"

export type GateSettings = Pick<AccountSettings, "actions" | "reactionLevel">

/** The key that keeps a gate shut; undefined when it is open. */
export function shutBy(settings: GateSettings, gate: Gate): string | undefined {
  // Stickers are the one thing that has to be switched on.
  if (!(settings.actions?.[gate] ?? gate !== "sticker")) return `channels.chatapp.actions.${gate}`
  const reacts = settings.reactionLevel === "minimal" || settings.reactionLevel === "extensive"
  return gate === "reactions" && !reacts ? "channels.chatapp.reactionLevel" : undefined
}

export function openActions<Action extends string>(
  settings: GateSettings,
  gates: Readonly<Record<Action, Gate>>,
): readonly Action[] {
  return (Object.keys(gates) as Action[]).filter((action) => shutBy(settings, gates[action]) === undefined)
}
