// The picture of a check: 64 by 64 points of one colour that nobody guesses who sees nothing. Small enough to cost
// next to nothing, large enough for models that refuse tiny pictures.

export const picture = {
  mediaType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAATElEQVR42u3PQQkAAAgEsItucy+Cb2GwAstOXouAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAwKX5gfFaZ4bdfwAAAABJRU5ErkJggg==",
} as const

/** Whether words name its colour. Models that see it say one of these. */
export function isColourOfPicture(words: string): boolean {
  return /\b(?:orange|amber|tangerine)\b/i.test(words)
}
