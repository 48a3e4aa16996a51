// "remind me in 20 minutes to call Ada" -> the fields of the tool `schedule`. What comes back then is a command of this very
// model, `say "..."`: any other model understands it too. Pure.

export type ReminderTime = { in: string } | { at: string }

export interface Reminder {
  time: ReminderTime
  /** What of; empty where nothing was named. */
  text: string
}

const unit = "(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)"
const numbers: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
}
const count = `(?:\\d{1,6}|${Object.keys(numbers).join("|")})`
const part = `${count}\\s{0,3}${unit}`
const span = `half\\s{1,3}an\\s{1,3}hour|${part}(?:(?:\\s{0,3},|\\s{1,3}and)?\\s{0,3}${part}){0,3}`
const clock = "(?:\\d{4}-\\d{2}-\\d{2}\\s{1,3})?\\d{1,2}(?::\\d{2})?(?:\\s?[ap]m)?|noon|midnight"
const time = `(?:in\\s{1,9}(?<in>${span})|at\\s{1,9}(?<at>${clock}))`
const link = "(?:to|that|about|of)"

const timeFirst = new RegExp(`^remind\\s{1,9}me\\s{1,9}${time}(?:\\s{1,9}(?:${link}\\s{1,9})?(?<text>.+))?$`, "is")
/** The time is what stands last: "to be at 9 at the office at 8". */
const timeLast = new RegExp(`^remind\\s{1,9}me\\s{1,9}(?:${link}\\s{1,9})?(?<text>.+)\\s${time}$`, "is")

/** Undefined when no time that is understood stands in it. */
export function readReminder(sentence: string): Reminder | undefined {
  const groups = (timeFirst.exec(sentence) ?? timeLast.exec(sentence))?.groups
  if (!groups) return undefined
  const { in: length, at, text = "" } = groups
  const found = length === undefined ? momentOf(at ?? "") : { in: lengthOf(length) }
  return found && { time: found, text: text.trim() }
}

/** `half an hour`, `five minutes` -> as the tool reads it. */
function lengthOf(written: string): string {
  if (/^half/i.test(written)) return "30 minutes"
  return written.toLowerCase().replaceAll(/[a-z]+/g, (word) => String(numbers[word] ?? word))
}

/** `6pm`, `noon`, `9:05` -> `18:00`, `12:00`, `9:05`. */
function momentOf(written: string): ReminderTime | undefined {
  if (/^noon$/i.test(written)) return { at: "12:00" }
  if (/^midnight$/i.test(written)) return { at: "00:00" }
  const [, day = "", hour = "", minute = "00", half] =
    /^(\d{4}-\d{2}-\d{2}\s+)?(\d{1,2})(?::(\d{2}))?(?:\s?([ap])m)?$/i.exec(written) ?? []
  const named = Number(hour)
  const isHalf = half !== undefined
  if (named > (isHalf ? 12 : 23) || (isHalf && named === 0) || Number(minute) > 59) return undefined
  const hours = isHalf ? (named % 12) + (half.toLowerCase() === "p" ? 12 : 0) : named
  return { at: `${day.trim()} ${String(hours).padStart(2, "0")}:${minute}`.trim() }
}

/** What is told at that time. */
export function reminderOrder({ time: when, text }: Reminder): string {
  const words = text === "" ? ("in" in when ? `${when.in} are over` : `it is ${when.at}`) : text
  // Between the quotes nothing is a command of its own.
  return `say "Reminder: ${words.replaceAll('"', "'").replaceAll(/\s+/g, " ")}"`
}
