// What `svc doctor` finds, in one table, and the form in which it is told. No runtime but the table.
import type { ConfigPath } from "../config/index.ts"
import type { Json } from "../kernel/index.ts"

/** `error`: something does not work, or is open to others. `warning`: it may. `note`: something waits for a person. */
export type Severity = "error" | "warning" | "note"

export const findingTable = {
  "node-old": { severity: "error", meaning: "This Node.js is older than svc needs." },
  "config-invalid": {
    severity: "error",
    meaning: "The configuration has an error; the gateway does not start with it.",
  },
  "config-doubtful": { severity: "warning", meaning: "A key of the configuration may not do what was meant." },
  "variable-missing": { severity: "error", meaning: "The configuration refers to a variable that is set nowhere." },
  "secret-weak": { severity: "warning", meaning: "A secret can be guessed." },
  "model-doubtful": { severity: "warning", meaning: "A model has no provider or no key, or its name is not known." },
  "bot-missing": { severity: "warning", meaning: "The chat is switched on, but its bot has no token." },
  "token-malformed": { severity: "error", meaning: "A bot token does not have the form of one." },
  "owner-missing": { severity: "note", meaning: "Nobody is listed as the owner of the bot." },
  "env-file": { severity: "warning", meaning: "Others may read `.env`, or it is not used." },
  "file-open": { severity: "warning", meaning: "Others may read or write a file or folder that is the gateway's own." },
  "file-unreadable": { severity: "error", meaning: "A file that the gateway needs cannot be read or written." },
  "browser-missing": { severity: "warning", meaning: "No browser was found, and browser control is switched on." },
  "browser-root": { severity: "error", meaning: "A browser cannot start as root with its own sandbox." },
  "port-taken": { severity: "error", meaning: "Another program listens on a port that the gateway needs." },
  "lock-stale": { severity: "note", meaning: "Files of a gateway that was killed; the next start replaces them." },
  "disk-low": { severity: "warning", meaning: "Little room is left in the file system of the state folder." },
  "store-missing": { severity: "error", meaning: "The folder was used before, but its store is missing or empty." },
  "store-newer": { severity: "error", meaning: "The store was made by a newer release than this one." },
  "store-damaged": { severity: "error", meaning: "The store is damaged." },
  "store-unchecked": { severity: "note", meaning: "The store is too large to be looked through in this time." },
  "sandbox-missing": {
    severity: "warning",
    meaning: "The sandbox for turns of strangers and for commands cannot be made here.",
  },
  "linger-off": { severity: "warning", meaning: "The service of this user ends when they log out." },
  "bind-open": { severity: "warning", meaning: "Other machines reach the gateway, and it speaks without TLS." },
  "clock-off": { severity: "warning", meaning: "The clock of this machine is wrong." },
  "messages-dead": { severity: "note", meaning: "Messages were given up." },
  "messages-in-doubt": { severity: "note", meaning: "Nobody knows whether these messages have arrived." },
  "runs-dead": { severity: "note", meaning: "Runs have failed for good." },
  "gateway-problem": { severity: "warning", meaning: "The running gateway says that a part of it does not work." },
  "check-failed": { severity: "warning", meaning: "Something could not be looked at." },
} as const satisfies Record<string, { severity: Severity; meaning: string }>

export type FindingCode = keyof typeof findingTable

/** What `svc doctor --fix` may do about it. */
export type Fix =
  | { kind: "rights"; path: string; from: number; to: number }
  | { kind: "config"; path: string; key: ConfigPath; value: Json }

export interface Finding {
  code: FindingCode
  severity: Severity
  cause: string
  /** What to type next. */
  command?: string
  fix?: Fix
}

export function finding(code: FindingCode, cause: string, more: { command?: string; fix?: Fix } = {}): Finding {
  return { code, severity: findingTable[code].severity, cause, ...more }
}
