// The list in an answer, whether it is the answer itself or stands in it under a name.

/** Empty when there is none; what the items hold is the wire type's promise. */
export function readItems<Item>(answer: unknown, name: string): Item[] {
  if (Array.isArray(answer)) return answer as Item[]
  const list = (answer as Record<string, unknown> | null)?.[name]
  return Array.isArray(list) ? (list as Item[]) : []
}

/** The cursor to older items, as an option for the next call; undefined on the last page. */
export function olderOption(answer: unknown): string | undefined {
  const next = (answer as { next?: unknown } | null)?.next
  return typeof next === "number" ? `--before ${next}` : undefined
}
