// Whether a field holds what was typed into it. Fields have forms of their own (masks, grouped numbers, dates, capitals):
// what counts is that the letters and digits are there, and that nothing of the old text is.

export interface Typed {
  mode: "replace" | "append" | "caret"
  text: string
  /** What the field held before. */
  before: string
  /** What stays in it when everything is deleted. */
  fixed?: string
}

export function holds(held: string, typed: Typed): boolean {
  const { mode, text, before } = typed
  if (mode === "append") return isSame(held, before + text)
  if (mode === "caret") return letters(held).includes(letters(text)) && letters(held).length >= letters(text).length
  if (isSame(held, text)) return true
  // Something may stand around it (a unit, a country code, a completion), but not what was to be replaced.
  const [now, wanted, old] = [letters(held), letters(text), letters(before)]
  if (stays(typed, now, wanted)) return true
  if (wanted === "" || (isNumber(text) && !/^\d{6,}$/.test(wanted))) return false
  if (old !== "" && old !== wanted && (now === old || now === old + wanted || now === wanted + old)) return false
  return now.includes(wanted) || isPartOfLong(now, wanted)
}

/** The frame of a mask, which cannot be deleted: signs and letters around the text (`+7 (___) ___`, `$`). */
function stays({ fixed = "" }: Typed, now: string, wanted: string): boolean {
  const frame = letters(fixed)
  if (wanted === "" || frame === "" || !/[^\p{L}\p{N}\s]/u.test(fixed)) return false
  return now === frame + wanted || now === wanted + frame
}

/** Editors put only what is in view into the document. */
function isPartOfLong(now: string, wanted: string): boolean {
  const long = 1_000
  return wanted.length > long && now.length > long / 10 && wanted.includes(now.slice(0, long / 10))
}

function isSame(held: string, text: string): boolean {
  const [now, wanted] = [plain(held), plain(text)]
  if (now === wanted) return true
  if (isNumber(wanted)) return isSameNumber(now, wanted)
  if (letters(now) !== "" && letters(now) === letters(wanted)) return true
  return isSameDate(now, wanted)
}

function plain(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[\s\u200b\ufeff]+/g, " ")
    .trim()
    .toLowerCase()
}

function letters(text: string): string {
  return plain(text).replace(/[^\p{L}\p{N}\p{S}]/gu, "")
}

function isNumber(text: string): boolean {
  return /^[-+]?\d+([.,]\d+)?$/.test(text.trim())
}

/** `1234.5` and `1,234.50`, `€ 1.234,5`; `6641234` and `(664) 12-34`; never `1.5` and `15`, or `-5` and `5`. */
function isSameNumber(held: string, wanted: string): boolean {
  const digits = (text: string) => text.replace(/\D/g, "")
  if (/^\d+$/.test(wanted) && digits(held) === wanted) return true
  const number = held.replace(/[^\d.,-]/g, "")
  const value = Number(wanted.replace(",", "."))
  const readings = [number.replaceAll(",", ""), number.replaceAll(".", "").replace(",", ".")]
  return number !== "" && readings.some((reading) => reading !== "" && Number(reading) === value)
}

/** The same day in another order: `2026-03-10` and `10.3.2026`. */
function isSameDate(held: string, wanted: string): boolean {
  const parts = (text: string) =>
    (text.match(/\d+/g) ?? [])
      .map(Number)
      .toSorted((one, other) => one - other)
      .join()
  return /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}/.test(wanted) && /^[\d\s:./-]+$/.test(held) && parts(held) === parts(wanted)
}
