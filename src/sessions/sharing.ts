// What it means, in words, to let one more person write to the agent: whether they come into the session in which others
// talk, and how they get one of their own. Nothing is decided here; the words are for whoever approves.
import type { SessionConfig } from "./config.ts"

export interface SharingFacts {
  dmScope: SessionConfig["dmScope"]
  /** People who write directly already: owners that are listed, and those who were let in. */
  others: number
  /** How the person is called who is to be let in. */
  name: string
}

export interface SharingQuestion {
  /** What sharing would show, for whoever approves. */
  text: string
  /** The change of the configuration that gives each person a session of their own. */
  change: { key: "session.dmScope"; value: "per-channel-peer" }
  /** The same as a command line. */
  command: string
}

const command = "svc config set session.dmScope per-channel-peer"

/** Undefined where nobody shares anything by it: nobody else writes, or each has a session of their own. */
export function sharingQuestion({ dmScope, others, name }: SharingFacts): SharingQuestion | undefined {
  if (dmScope !== "main" || others === 0) return undefined
  const whom = others === 1 ? "you" : "the others who write to it"
  return {
    text: [
      `${name} would share one conversation with ${whom}.`,
      `Direct messages of everybody who is let in go to the agent's main session: whatever ${whom} and ${name} say there, what webhooks and pages have brought, and what the agent has answered, stands in front of the agent when either of you writes. ${name} can ask about it and get it as an answer, and what ${name} says stands in your next turn.`,
      `Should ${name} have a conversation of their own instead? Then run: ${command}`,
      "From then on each person has one; what the main session holds stays there, and you begin a new one too.",
    ].join("\n"),
    change: { key: "session.dmScope", value: "per-channel-peer" },
    command,
  }
}
