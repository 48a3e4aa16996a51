// The boundary round untrusted text: an id that is random per message makes it impossible to close from inside;
// look-alikes of the boundary and of chat templates are neutralised as a second layer.
import type { Ids } from "../kernel/index.ts"

export interface Untrusted {
  /** What it is: `webhook`, `web page`, `event`, ... one of ours, never foreign. */
  source: string
  /** Foreign words about the text (a name, a subject); shown as one JSON line inside. */
  about?: Record<string, string> | undefined
  text: string
}

export function wrapUntrusted(ids: Ids, content: Untrusted): string {
  const id = ids.token(9)
  const about =
    content.about && Object.keys(content.about).length > 0 ? `${neutralize(JSON.stringify(content.about))}\n` : ""
  return `<untrusted-content id="${id}" source="${content.source}">\n${about}${neutralize(content.text)}\n</untrusted-content id="${id}">`
}

/** What a folded character stands for; letters that look like Latin ones, and every kind of angle bracket. */
const lookAlikes: Record<string, string> = {
  а: "a",
  е: "e",
  о: "o",
  с: "c",
  р: "p",
  т: "t",
  ѕ: "s",
  п: "n",
  и: "u",
  ԁ: "d",
  г: "r",
  у: "y",
  і: "i",
  ո: "n",
  ս: "u",
  α: "a",
  ε: "e",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  ν: "v",
  η: "n",
  ι: "i",
  κ: "k",
  σ: "s",
  "‹": "<",
  "〈": "<",
  "《": "<",
  "⟨": "<",
  "❮": "<",
  "≺": "<",
  "«": "<",
  "⟪": "<",
  "❰": "<",
  "﹤": "<",
  "˂": "<",
  ᐸ: "<",
  "›": ">",
  "〉": ">",
  "》": ">",
  "⟩": ">",
  "❯": ">",
  "≻": ">",
  "»": ">",
  "⟫": ">",
  "❱": ">",
  "﹥": ">",
  "˃": ">",
  ᐳ: ">",
  "‐": "-",
  "‑": "-",
  "‒": "-",
  "–": "-",
  "—": "-",
  "−": "-",
  "﹣": "-",
  _: "-",
  " ": "-",
  "∕": "/",
  "⁄": "/",
}
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u
const entities: Record<string, string> = {
  "&lt;": "<",
  "&gt;": ">",
  "&#60;": "<",
  "&#62;": ">",
  "&#x3c;": "<",
  "&#x3e;": ">",
}
const suspicious =
  /<+-*\/?-*(?:end-*|begin-*|start-*)?(?:untrusted|external|trusted)-*content[^<>\n]{0,80}>*|<\|[^|<>\n]{1,40}\|>|\[\/?inst\]|<<\/?sys>>|<\/?s>/g

/** The text with everything that imitates a boundary or a chat template replaced. */
export function neutralize(text: string): string {
  const { folded, starts } = fold(text)
  let result = ""
  let copied = 0
  for (const match of folded.matchAll(suspicious)) {
    const from = starts[match.index] as number
    const to = starts[match.index + match[0].length] ?? text.length
    result += `${text.slice(copied, from)}[removed]`
    copied = to
  }
  return result + text.slice(copied)
}

/** A plain form of the text for matching, with the place in the original of each of its characters. */
function fold(text: string): { folded: string; starts: number[] } {
  let folded = ""
  const starts: number[] = []
  for (let index = 0; index < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(index) as number)
    const entity =
      character === "&" ? /^&(?:lt|gt|#60|#62|#x3c|#x3e);/i.exec(text.slice(index, index + 6))?.[0] : undefined
    const length = entity?.length ?? character.length
    const plain = entity ? (entities[entity.toLowerCase()] ?? "") : foldCharacter(character)
    for (const piece of plain) {
      folded += piece
      starts.push(index)
    }
    index += length
  }
  return { folded, starts }
}

function foldCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x80) return lookAlikes[character] ?? character.toLowerCase()
  if (invisible.test(character)) return ""
  // Code units, one entry each, so that `starts` and `folded` have the same length.
  const plain = character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
  return [...plain].map((piece) => lookAlikes[piece] ?? (piece.length === 1 ? piece : "\ufffd")).join("")
}
