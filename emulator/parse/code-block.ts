// The start of a fenced code block, the same in both Markdown styles: an optional language, then one line break.
import { isSpace } from "./reader.ts"

/** Reads behind the three backticks at `position`; returns the language and where the code starts. */
export function readFence(source: string, position: number): { language: string; next: number } {
  let finish = position
  while (finish < source.length && !isSpace(source.charAt(finish)) && source[finish] !== "`") finish += 1
  const isLanguage = finish > position && finish < source.length && source[finish] !== "`"
  const next = isLanguage ? finish : position
  return { language: isLanguage ? source.slice(position, finish) : "", next: skipLineBreak(source, next) }
}

function skipLineBreak(source: string, position: number): number {
  const [first, second] = [source[position], source[position + 1]]
  const isBreak = (character: string | undefined) => character === "\n" || character === "\r"
  if (!isBreak(first)) return position
  return isBreak(second) && first !== second ? position + 2 : position + 1
}
