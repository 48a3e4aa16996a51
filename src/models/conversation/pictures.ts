import type { ContentPart } from "../contract.ts"

type Shown =
  | { role: "assistant" }
  | { role: "user"; content: readonly ContentPart[] }
  | { role: "tool"; results: readonly { content: readonly ContentPart[] }[] }

/** Megabytes, which are gone from the next turn: nothing that is kept between requests may hold it. */
export function hasPicture(message: Shown): boolean {
  if (message.role === "assistant") return false
  const content = message.role === "user" ? message.content : message.results.flatMap((result) => result.content)
  return content.some(({ type }) => type === "image")
}
