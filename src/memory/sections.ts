// A note as its sections: Markdown headings and what stands below them. What is looked for is found by section, what is
// written goes into one, and nothing else of the file is touched.

export interface Section {
  /** Empty for what stands above the first heading. */
  heading: string
  /** Of a long section a part; the parts follow each other. */
  text: string
}

/** About as much as says one thing: larger sections are found in parts. */
const maxSectionText = 1_500

interface Line {
  text: string
  /** 1 to 6 for a heading; 0 for all else. */
  level: number
}

const headingLine = /^(#{1,6})[ \t]+(\S.*)$/
/** The beginning or end of a block of code, or a heading. */
const markedLine = /^(?: {0,3}(```|~~~)|(#{1,6})[ \t]+\S)/

/** Tells the level of each line, which come in order. What looks like a heading inside of a code block is none. */
function levelReader(): (line: string) => number {
  let fence: string | undefined
  return (line) => {
    // Most lines, and a note of nothing but ends of lines, are neither.
    const found = line === "" ? null : markedLine.exec(line)
    if (!found) return 0
    const mark = found[1]
    if (mark === undefined) return fence === undefined ? (found[2]?.length ?? 0) : 0
    if (fence === undefined) fence = mark
    else if (fence === mark) fence = undefined
    return 0
  }
}

function linesOf(note: string): Line[] {
  const levelOf = levelReader()
  return note.split("\n").map((text) => ({ text, level: levelOf(text) }))
}

function headingOf(line: string): string {
  const text = (headingLine.exec(line)?.[2] ?? "").trim()
  // Markdown lets a heading end as it begins.
  let end = text.length
  while (text[end - 1] === "#") end -= 1
  return text[end - 1] === " " ? text.slice(0, end).trim() : text
}

export function sectionsOf(note: string): Section[] {
  const text = note.replaceAll("\r\n", "\n")
  const levelOf = levelReader()
  const sections: Section[] = []
  let heading = ""
  let from = 0
  const close = (end: number) => {
    const body = text.slice(from, end).trim()
    if (body !== "" || heading !== "") sections.push(...partsOf(body).map((part) => ({ heading, text: part })))
  }
  for (let at = 0; at < text.length;) {
    const found = text.indexOf("\n", at)
    const end = found < 0 ? text.length : found
    const line = text.slice(at, end)
    if (levelOf(line) > 0) {
      close(at)
      heading = headingOf(line)
      from = end
    }
    at = end + 1
  }
  close(text.length)
  return sections
}

/** Cut between lines where that is possible. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let rest = text
  while (rest.length > maxSectionText) {
    const line = rest.lastIndexOf("\n", maxSectionText)
    const end = line > maxSectionText / 2 ? line : maxSectionText
    parts.push(rest.slice(0, end).trim())
    rest = rest.slice(end).trim()
  }
  return [...parts, rest]
}

export interface Change {
  /** Unset: the end of the note. */
  section?: string | undefined
  text: string
  mode: "append" | "replace"
}

/** The note with the change; the same text when it says so already. An empty text in place of a section removes it. */
export function changeNote(note: string, { section, text, mode }: Change): string {
  const hasReturns = note.includes("\r\n")
  const lines = linesOf(note.replaceAll("\r\n", "\n"))
  const place = section === undefined ? { from: lines.length, to: lines.length } : placeOf(lines, section)
  const written = text.replaceAll("\r\n", "\n").trim()
  const changed =
    place === undefined
      ? addSection(lines, section ?? "", written)
      : mode === "replace" && section !== undefined
        ? replaceSection(lines, place, written)
        : append(lines, section === undefined ? { from: 0, to: lines.length } : place, written)
  if (changed === undefined) return note
  const joined = `${changed.trim()}\n`
  return hasReturns ? joined.replaceAll("\n", "\r\n") : joined
}

interface Place {
  /** The first line below the heading, and the one behind the last. */
  from: number
  to: number
}

function placeOf(lines: readonly Line[], section: string): Place | undefined {
  const wanted = section
    .replace(/^#+\s*/, "")
    .trim()
    .toLowerCase()
  const at = lines.findIndex(({ text, level }) => level > 0 && headingOf(text).toLowerCase() === wanted)
  if (at < 0) return undefined
  const { level } = lines[at] as Line
  const end = lines.findIndex((line, index) => index > at && line.level > 0 && line.level <= level)
  return { from: at + 1, to: end < 0 ? lines.length : end }
}

const join = (lines: readonly Line[]) => lines.map(({ text }) => text).join("\n")

function addSection(lines: readonly Line[], section: string, text: string): string | undefined {
  if (text === "") return undefined
  return `${join(lines).trimEnd()}\n\n## ${section.replace(/^#+\s*/, "").trim()}\n\n${text}`
}

function append(lines: readonly Line[], { from, to }: Place, text: string): string | undefined {
  const before = join(lines.slice(from, to)).trim()
  // Headings in it have begun sections of their own.
  const hasHeadings = linesOf(text).some(({ level }) => level > 0)
  const known = hasHeadings ? join(lines) : before
  if (text === "" || `\n${known}\n`.includes(`\n${text}\n`)) return undefined
  const isList = /^([-*+]|\d+\.) /.test(text) && /(^|\n)([-*+]|\d+\.) [^\n]*$/.test(before)
  const whole = before === "" ? text : `${before}${isList ? "\n" : "\n\n"}${text}`
  return put(lines, { from, to }, whole)
}

/** All that stands below its heading, the sections inside of it too. */
function replaceSection(lines: readonly Line[], { from, to }: Place, text: string): string | undefined {
  if (text === "") return [join(lines.slice(0, from - 1)).trimEnd(), join(lines.slice(to))].join("\n\n")
  if (join(lines.slice(from, to)).trim() === text) return undefined
  return put(lines, { from, to }, text)
}

function put(lines: readonly Line[], { from, to }: Place, text: string): string {
  const [head, tail] = [join(lines.slice(0, from)).trimEnd(), join(lines.slice(to))]
  return [head, text, tail].filter((part) => part.trim() !== "").join("\n\n")
}
