// What an unknown sender is told: that access is not set up, who they are, and what the operator has to type.
// Nothing about the operator or the agent.

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
  ].join("\n")
}

export const decisionTexts = {
  approved: "You have been let in. Write again, and you will be answered.",
  denied: "Your request to write to this bot was declined.",
}
