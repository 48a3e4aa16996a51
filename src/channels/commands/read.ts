// A text -> the command that it is, if it is one. Only the first words decide, in plain letters: look-alikes and hidden
// characters make an ordinary text of it.

export type ReadCommand =
  | { kind: "none" }
  /** `/name@another_bot`: meant for somebody else. */
  | { kind: "other-bot" }
  /** `args` is all that follows, `line` what of it stands in the first line. */
  | { kind: "command"; name: string; args: string; line: string }

export interface ReadOptions {
  /** Without the `@`; undefined until the platform has said it. */
  botName: string | undefined
}

const commandPattern = /^\/([a-z0-9_]{1,64})(?:@([a-z0-9_]{1,64}))?(?=[\s:]|$):?/i

export function readCommand(text: string, { botName }: ReadOptions): ReadCommand {
  const body = withoutAddress(text, botName)
  const match = commandPattern.exec(body)
  if (!match) return { kind: "none" }
  const [head, name = "", addressee] = match
  if (addressee !== undefined && addressee.toLowerCase() !== botName?.toLowerCase()) return { kind: "other-bot" }
  const rest = body.slice(head.length)
  return { kind: "command", name: name.toLowerCase(), args: rest.trim(), line: (rest.split("\n", 1)[0] ?? "").trim() }
}

/** `@bot /status` is `/status`. */
function withoutAddress(text: string, botName: string | undefined): string {
  const body = text.trim()
  if (botName === undefined || !body.toLowerCase().startsWith(`@${botName.toLowerCase()}`)) return body
  const rest = body.slice(botName.length + 1)
  return /^\s/.test(rest) ? rest.trimStart() : body
}

const stopWords = new Set(["stop", "esc", "abort", "wait", "exit", "interrupt"])

/** The whole message and nothing else. */
export function isStopWord(text: string): boolean {
  return text.length <= 12 && stopWords.has(text.trim().toLowerCase())
}

/** The text behind one of the operator's words for a new session; undefined when it begins with none of them. */
export function afterResetWord(text: string, words: readonly string[]): string | undefined {
  const body = text.trim()
  const lower = body.toLowerCase()
  const word = words.find((one) => {
    const wanted = one.toLowerCase()
    return lower === wanted || (lower.startsWith(wanted) && /^\s/.test(lower.slice(wanted.length)))
  })
  return word === undefined ? undefined : body.slice(word.length).trim()
}
