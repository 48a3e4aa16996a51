// Markdown of answers, as elements: never as HTML, so that a text can be nothing but text. Each character is looked at a
// few times at most, however the text is made.
import type { ComponentChildren } from "preact"
import { Code } from "./parts.tsx"

/** Far more than an answer has. What is behind them is shown as it is: its elements alone would freeze the page. */
const mostFormatted = 65_536

export function Markdown({ text }: { text: string }) {
  return (
    <div class="markdown">
      {blocks(text.slice(0, mostFormatted).split("\n"))}
      {text.length > mostFormatted && <pre>{text.slice(mostFormatted)}</pre>}
    </div>
  )
}

const fencePattern = /^ {0,3}(```+|~~~+)/
const itemPattern = /^(\s*)([-*+]|\d{1,9}[.)])\s+/
const mostLevels = 6
const isOrdered = (line: string) => /^\s*\d/.test(line)

function blocks(lines: string[], level = 0): ComponentChildren[] {
  const out: ComponentChildren[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at] as string
    const take = (goesOn: (next: string) => boolean) => {
      const begin = at
      do at += 1
      while (at < lines.length && goesOn(lines[at] as string))
      return lines.slice(begin, at)
    }
    const fence = fencePattern.exec(line)?.[1]
    if (fence !== undefined) {
      const [, ...inner] = take((next) => !next.trim().startsWith(fence))
      at += 1
      out.push(<Code text={inner.join("\n")} what="the code" />)
    } else if (line.trim() === "") at += 1
    else if (/^\s*(?:[-*_]\s*){3,}$/.test(line.slice(0, 80))) {
      at += 1
      out.push(<hr />)
    } else if (line.startsWith(">") && level < mostLevels) {
      const inner = take((next) => next.startsWith(">")).map((each) => each.replace(/^> ?/, ""))
      out.push(<blockquote>{blocks(inner, level + 1)}</blockquote>)
    } else if (itemPattern.test(line) && level < mostLevels) {
      out.push(
        list(
          take((next) => /^(?:\s|$)/.test(next) || (itemPattern.test(next) && isOrdered(next) === isOrdered(line))),
          level,
        ),
      )
    } else if (line.includes("|") && /^[\s|:-]*-[\s|:-]*$/.test(lines[at + 1]?.slice(0, 500) ?? "")) {
      out.push(table(take((next) => next.includes("|"))))
    } else {
      const words = take(
        (next) => next.trim() !== "" && !fencePattern.test(next) && !/^(?:>|#+\s|\s*(?:[-*+]|1[.)])\s)/.test(next),
      )
      const [, title] = /^#{1,6}\s+(.*)/.exec(line) ?? []
      if (title !== undefined) at -= words.length - 1
      out.push(<p>{title === undefined ? inline(words.join("\n")) : <strong>{inline(title)}</strong>}</p>)
    }
  }
  return out
}

function list(lines: string[], level: number): ComponentChildren {
  const [first = ""] = lines
  const indent = first.search(/\S/)
  const items: string[][] = []
  for (const line of lines) {
    const own = itemPattern.exec(line)
    if (own && (own[1] as string).length <= indent) items.push([line.slice(own[0].length)])
    else items.at(-1)?.push(line.replace(/^\s{1,4}/, ""))
  }
  const shown = items.map((inner) => <li>{blocks(inner, level + 1)}</li>)
  return isOrdered(first) ? <ol start={Number.parseInt(first)}>{shown}</ol> : <ul>{shown}</ul>
}

function table([head = "", , ...rows]: string[]): ComponentChildren {
  const row = (line: string, Cell: "th" | "td") => {
    const cells = line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
    return (
      <tr>
        {cells.map((cell) => (
          <Cell>{inline(cell.trim())}</Cell>
        ))}
      </tr>
    )
  }
  return (
    <table tabIndex={0}>
      {row(head, "th")}
      {rows.map((line) => row(line, "td"))}
    </table>
  )
}

const tags: Record<string, string> = { "**": "strong", __: "strong", "~~": "s", "*": "em", _: "em" }
/**
 * An escape, code, a link, an address, or marked words. What stands between two marks is bounded, so that a text full of
 * marks without an end costs no more than that for each of them.
 */
const token =
  /\\([!-/:-@[-`{-~])|(?<!`)(`{1,9})(?!`)([^]{0,999}?[^`])\2(?!`)|\[([^[\]\n]{1,300})\]\(<?((?:https?|mailto):[^\s()<>]{1,2000})>?\)|(?<!\w)(https?:\/\/[^\s<>"'`*]{1,2000})|(?<!\w)(\*\*|__|~~|\*|_)(?=\S)([^]{0,400}?\S)\7(?!\w)/g

function inline(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let end = 0
  for (const found of text.matchAll(token)) {
    const [whole, escaped, , code, words, address, bare, mark = "", inner = ""] = found
    let length = whole.length
    const link = address ?? bare?.replace(/[.,;:!?)\]]{1,9}$/, "")
    const Mark = tags[mark] as "em"
    if (bare !== undefined) length = link?.length ?? 0
    out.push(
      text.slice(end, found.index),
      escaped ??
        (code === undefined ? (
          link === undefined ? (
            <Mark>{inline(inner)}</Mark>
          ) : (
            <a href={link} title={link} target="_blank" rel="noreferrer">
              {words ?? link}
            </a>
          )
        ) : (
          <code>{code}</code>
        )),
    )
    end = found.index + length
  }
  out.push(text.slice(end))
  return out
}
