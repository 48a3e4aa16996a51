// Why a reply ends, in the words of each wire. Scripts write the neutral names, or a wire's own word.

type Neutral = "length" | "refused" | "paused"

const words: Readonly<Record<string, Readonly<Record<Neutral, string>>>> = {
  chat: { length: "length", refused: "content_filter", paused: "pause_turn" },
  responses: { length: "max_output_tokens", refused: "content_filter", paused: "pause_turn" },
  messages: { length: "max_tokens", refused: "refusal", paused: "pause_turn" },
  gemini: { length: "MAX_TOKENS", refused: "SAFETY", paused: "OTHER" },
  converse: { length: "max_tokens", refused: "content_filtered", paused: "pause_turn" },
}

/** `natural` is what the wire says when nothing was scripted. */
export function finishWord(wire: string, scripted: string | undefined, natural: string): string {
  if (scripted === undefined) return natural
  const own = words[wire]
  return own && Object.hasOwn(own, scripted) ? own[scripted as Neutral] : scripted
}
