// Where a prompt is marked for a provider's cache: at most four places, chosen so that each request finds what the one
// before it has left, however long the tool loop between them was.

/**
 * Places of the messages to mark, in their order, at most three; the fourth mark is the system prompt's, which covers
 * the tools before it.
 * - the last message, for the next request;
 * - the message right before the last reply: the last one of the request before this;
 * - the user's message that began the running tool loop: the last one of the turn's first request.
 */
export function cachePlaces(roles: readonly ("user" | "assistant" | "tool")[]): number[] {
  const last = roles.length - 1
  const beforeReply = roles.lastIndexOf("assistant") - 1
  const turn = roles.findLastIndex((role, index) => role === "user" && !followsResults(roles, index))
  return [...new Set([turn, beforeReply, last])].filter((place) => place >= 0).toSorted((a, b) => a - b)
}

/** A user's message behind tool results (their pictures, or words written meanwhile) belongs to the loop. */
function followsResults(roles: readonly string[], index: number): boolean {
  let before = index - 1
  while (roles[before] === "user") before -= 1
  return roles[before] === "tool"
}
