// Places of a text that are to be replaced, and the text with them replaced. Foreign text may be nothing but such places,
// so what one of them costs is bounded, too.

/** The text's UTF-16 codes, which are read several times faster from an array than from a string. */
export function codesOf(text: string): Uint16Array {
  // All of it is written.
  const bytes = Buffer.allocUnsafeSlow(text.length * 2)
  bytes.write(text, "utf16le")
  return new Uint16Array(bytes.buffer)
}

/** From so many characters a place on, pieces of strings are put together faster than codes. */
const fewPer = 32

export class Places {
  /** Pairs [from, to), in order, none overlapping or touching. */
  #pairs: Int32Array = new Int32Array(16)
  #length = 0

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Together with those before that it touches; what lies between it and one that begins behind it goes, too. */
  add(from: number, to: number): void {
    let start = from
    let end = to
    let length = this.#length
    let pairs = this.#pairs
    while (length > 0 && (pairs[length - 1] as number) >= start) {
      if ((pairs[length - 1] as number) > end) end = pairs[length - 1] as number
      if ((pairs[length - 2] as number) < start) start = pairs[length - 2] as number
      length -= 2
    }
    if (length === pairs.length) {
      pairs = unwritten(length * 4)
      pairs.set(this.#pairs)
      this.#pairs = pairs
    }
    pairs[length] = start
    pairs[length + 1] = end
    this.#length = length + 2
  }

  /** Both of them. */
  join(others: Places): Places {
    if (others.#length === 0) return this
    if (this.#length === 0) return others
    const all = new Places()
    const take = (places: Places, place: number) => {
      all.add(places.#pairs[place] as number, places.#pairs[place + 1] as number)
      return place + 2
    }
    for (let mine = 0, other = 0; mine < this.#length || other < others.#length;) {
      const isMine =
        other === others.#length ||
        (mine < this.#length && (this.#pairs[mine] as number) <= (others.#pairs[other] as number))
      if (isMine) mine = take(this, mine)
      else other = take(others, other)
    }
    return all
  }

  /** `codes` are those of the text. */
  replaceIn(text: string, codes: Uint16Array, replacement: string): string {
    if (this.#length === 0) return text
    return (this.#length / 2) * fewPer < text.length
      ? this.#joinPieces(text, replacement)
      : this.#writeCodes(codes, replacement)
  }

  #joinPieces(text: string, replacement: string): string {
    let result = ""
    let copied = 0
    for (let place = 0; place < this.#length; place += 2) {
      result += `${text.slice(copied, this.#pairs[place])}${replacement}`
      copied = this.#pairs[place + 1] as number
    }
    return result + text.slice(copied)
  }

  #writeCodes(codes: Uint16Array, replacement: string): string {
    const replacing = codesOf(replacement)
    const pairs = this.#pairs.subarray(0, this.#length)
    let size = codes.length + (pairs.length / 2) * replacing.length
    for (let place = 0; place < pairs.length; place += 2)
      size -= (pairs[place + 1] as number) - (pairs[place] as number)
    return writeNarrow({ codes, replacing, pairs, size }) ?? writeWide({ codes, replacing, pairs, size })
  }
}

/** Room for so many numbers. Pages that nobody writes to cost nothing, while zeros in all of them are half the work. */
export function unwritten(size: number): Int32Array {
  return new Int32Array(Buffer.allocUnsafeSlow(size * 4).buffer)
}

interface Writing {
  codes: Uint16Array
  replacing: Uint16Array
  pairs: Int32Array
  /** Of what is written. */
  size: number
}

/** A byte a character, which is half the memory and work of two; undefined where one needs both. */
function writeNarrow({ codes, replacing, pairs, size }: Writing): string | undefined {
  const result = Buffer.allocUnsafeSlow(size)
  let written = 0
  let at = 0
  let all = 0
  for (let place = 0; place <= pairs.length; place += 2) {
    const from = place < pairs.length ? (pairs[place] as number) : codes.length
    for (; at < from; at += 1) {
      const code = codes[at] as number
      all |= code
      result[written++] = code
    }
    if (all > 0xff) return undefined
    if (place === pairs.length) break
    for (let index = 0; index < replacing.length; index += 1) result[written++] = replacing[index] as number
    at = pairs[place + 1] as number
  }
  return result.toString("latin1")
}

function writeWide({ codes, replacing, pairs, size }: Writing): string {
  const bytes = Buffer.allocUnsafeSlow(size * 2)
  const result = new Uint16Array(bytes.buffer)
  let written = 0
  let at = 0
  for (let place = 0; place <= pairs.length; place += 2) {
    const from = place < pairs.length ? (pairs[place] as number) : codes.length
    for (; at < from; at += 1) result[written++] = codes[at] as number
    if (place === pairs.length) break
    for (let index = 0; index < replacing.length; index += 1) result[written++] = replacing[index] as number
    at = pairs[place + 1] as number
  }
  return bytes.toString("utf16le")
}
