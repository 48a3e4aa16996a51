// Cuts characters off the ends of a text. A regular expression for this (`/x+$/`) looks at a long run anew from each of
// its places; these look at each character once.

/** Without the characters that stand at its end. */
export function trimEnd(text: string, characters: string): string {
  let to = text.length
  while (to > 0 && characters.includes(text[to - 1] as string)) to -= 1
  return text.slice(0, to)
}

/** Without the characters that stand at its beginning and its end. */
export function trimBoth(text: string, characters: string): string {
  const rest = trimEnd(text, characters)
  let from = 0
  while (from < rest.length && characters.includes(rest[from] as string)) from += 1
  return rest.slice(from)
}
