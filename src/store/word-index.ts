// Takes what was removed out of the full-text indexes of messages, where it is only marked until their parts are written
// anew. https://www.sqlite.org/fts5.html#the_deletemerge_configuration_option
import type { SqliteHandle } from "./sqlite.ts"

const indexes = ["message_words", "message_parts"]

/** A part is written anew when so many hundredths of it are marked as removed. */
const leastRemoved = 10
/** Of an index are written for each unit of work. */
const pagesOfUnit = 2

/** Inside a transaction. Answers with the units of work that were done; 0 when no part needs it. */
export function mergeWords(handle: SqliteHandle, units: number): number {
  const changes = handle.prepare("select total_changes() as count")
  const count = () => Number(changes.get()?.["count"])
  for (const index of indexes) {
    // A setting of an index takes a number in the text of the statement alone.
    const set = (percent: number) =>
      handle.prepare(`insert into ${index} (${index}, rank) values ('deletemerge', ${percent})`).run()
    set(leastRemoved)
    const before = count()
    handle.prepare(`insert into ${index} (${index}, rank) values ('merge', ?)`).run(units * pagesOfUnit)
    // The command itself counts as one.
    const isDone = count() - before < 2
    set(0)
    if (!isDone) return units
  }
  return 0
}
