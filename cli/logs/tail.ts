// The last lines of the log, across its files, and the place to follow from.
import { fstatSync } from "node:fs"
import { closeLog, LineSplitter, listLogs, openLog, readOn, type OpenLog } from "./files.ts"

export interface Tail {
  /** Oldest first. */
  lines: string[]
  /** The newest file, at the end of the last whole line's bytes; undefined when there is no log. */
  newest: OpenLog | undefined
  splitter: LineSplitter
}

/** Reads at most `maxBytes` from the end; a line that this cuts is left out. `accepts` chooses which lines count. */
export function readTail(
  folder: string,
  options: { limit: number; maxBytes: number; accepts: (line: string) => boolean },
): Tail {
  const files = openNewest(folder, options.maxBytes)
  const lines: string[] = []
  const splitter = new LineSplitter()
  files.forEach(({ log, cut }, index) => {
    let skip = cut
    for (const piece of readOn(log)) {
      for (const line of splitter.split(piece)) {
        if (!skip && options.accepts(line)) lines.push(line)
        skip = false
      }
      if (lines.length > options.limit * 2) lines.splice(0, lines.length - options.limit)
    }
    if (index === files.length - 1) return
    for (const line of splitter.finish()) if (!skip && options.accepts(line)) lines.push(line)
    closeLog(log)
  })
  return { lines: options.limit === 0 ? [] : lines.slice(-options.limit), newest: files.at(-1)?.log, splitter }
}

/** As many of the newest files as `maxBytes` covers, oldest first, each at the offset to read from. */
function openNewest(folder: string, maxBytes: number): { log: OpenLog; cut: boolean }[] {
  const files: { log: OpenLog; cut: boolean }[] = []
  let left = maxBytes
  for (const path of listLogs(folder)) {
    if (left <= 0 && files.length > 0) break
    const log = openLog(path)
    if (!log) continue
    const { size } = fstatSync(log.descriptor)
    // One byte earlier than asked: if that byte is a line end, the first line is whole and nothing of it is lost.
    log.offset = Math.max(0, size - left - 1)
    files.unshift({ log, cut: log.offset > 0 })
    left -= size
  }
  return files
}
