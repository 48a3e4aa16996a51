// What an unknown sender is told: that access is not set up, who they are, what the operator has to type, and what comes
// then. Nothing about the operator or the agent.
import type { PairingDecision } from "../../pairing.ts"

export function pairingText(senderId: string, code: string): string {
  return [
    "Access is not set up for you yet.",
    "",
    `Your user id: \`${senderId}\``,
    `Your pairing code: \`${code}\``,
    "",
    "Ask the operator of this bot to approve it within an hour:",
    "```",
    `svc pairing approve chatapp ${code}`,
    "```",
    "Is this bot your own? Then put `--owner` behind it.",
    "",
    "Once you are let in, I tell you here and answer the first thing you wrote. Until then I answer nothing else.",
  ].join("\n")
}

export function decisionText(decision: PairingDecision): string {
  if (decision.kind === "denied") return "Your request to write to this bot was declined."
  const start = decision.isOwner ? "You have been let in, as an owner of this bot." : "You have been let in."
  const next = decision.isAnswered ? "The answer to what you wrote comes next." : "Write to me now, and I will answer."
  return `${start} ${next} /help shows what you can do.`
}
