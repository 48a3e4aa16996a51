// act: type, where a page has made a slider of its own: it is brought to a number by keys, as a person without a mouse does
// it, and looked at after each.
import { AppError } from "../../../kernel/index.ts"
import { callAgent, type World } from "../frames.ts"
import type { Dial } from "../inject/dial.ts"
import type { EditMode } from "../inject/edit.ts"
import { staleRef } from "../refs.ts"
import { followInternals } from "../snapshot/internals.ts"
import type { Tab } from "../tab.ts"
import { parseKey, sendKey } from "./keyboard.ts"

export interface Turning {
  tab: Tab
  world: World
  id: number
  /** Of its ref. */
  number: number
  text: string
  mode: EditMode
  signal: AbortSignal
}

/** Of keys, each of which moves it; who wants more has another way. */
const maxKeys = 400
/** From here on it is tried by pages first. */
const manySteps = 20
/** Of what pages count in fractions. */
const fuzz = 1e-6
/** Some move when the page has drawn again. */
const restMs = 60

export async function turnDial(turning: Turning): Promise<void> {
  const { number, text, mode } = turning
  if (mode !== "replace") {
    throw new AppError("bad-request", `The slider of ref ${number} takes a number in place of the one that it has`, {
      hint: "Leave mode out",
    })
  }
  const wanted = Number(text.trim().replace(",", "."))
  const dial = await read(turning)
  const min = dial.min ?? Number.NEGATIVE_INFINITY
  const max = dial.max ?? Number.POSITIVE_INFINITY
  if (text.trim() === "" || !Number.isFinite(wanted) || wanted < min || wanted > max) {
    const range = Number.isFinite(min) && Number.isFinite(max) ? ` from ${min} to ${max}` : ""
    throw new AppError("bad-request", `The slider of ref ${number} takes a number${range}, not ${JSON.stringify(text)}`)
  }
  // An end has a key of its own.
  const end = wanted === max ? "End" : wanted === min ? "Home" : undefined
  if (end !== undefined) await sendKey(turning.tab.session, parseKey(end), { signal: turning.signal })
  const now = end === undefined ? dial.now : (await read(turning)).now
  const stands = await new Approach(turning, wanted, now ?? Number.NaN).run()
  if (Math.abs(stands - wanted) <= fuzz * Math.max(1, Math.abs(wanted))) return
  throw new AppError("text-refused", `The slider of ref ${number} stands at ${stands}, not at ${wanted}`, {
    hint: "It may only stop at some numbers, move by very little with each key, or by none: then drag its handle",
  })
}

type Known = Extract<Dial, { kind: "dial" }>

async function read({ world, id, number, signal }: Turning): Promise<Known> {
  await followInternals(world, signal)
  const dial = await callAgent<Dial>(world, "dial", { id }, signal)
  if (dial.kind === "gone") throw staleRef(number)
  return dial
}

type Pair = readonly [more: string, less: string]
const arrows: readonly Pair[] = [
  ["ArrowRight", "ArrowLeft"],
  ["ArrowUp", "ArrowDown"],
  // Some count against the reading direction.
  ["ArrowLeft", "ArrowRight"],
]
const pages: Pair = ["PageUp", "PageDown"]

class Approach {
  readonly #turning: Turning
  readonly #wanted: number
  #now: number
  #keys = 0

  constructor(turning: Turning, wanted: number, now: number) {
    this.#turning = turning
    this.#wanted = wanted
    this.#now = now
  }

  /** Where it stands at the end: as near as its keys come. */
  async run(): Promise<number> {
    for (const pair of arrows) {
      const [before, from] = [this.#now, this.#left]
      if (from === 0) break
      // One step: whether these keys move it, which way, and how far.
      await this.#press(pair)
      const isAcross = this.#wanted > before !== this.#wanted > this.#now
      if (this.#now === before || (this.#left >= from && !isAcross)) continue
      if (this.#left > from) await this.#press(pair)
      else {
        if (this.#left / (from - this.#left) > manySteps) await this.#go(pages)
        await this.#go(pair)
      }
      break
    }
    return this.#now
  }

  get #left(): number {
    return Math.abs(this.#wanted - this.#now)
  }

  /** For as long as each key brings it nearer. */
  async #go(pair: Pair): Promise<void> {
    let before = Number.POSITIVE_INFINITY
    while (this.#left > 0 && this.#left < before && this.#keys < maxKeys) {
      before = this.#left
      await this.#press(pair)
    }
    // Past it, and further away than before: back by one.
    if (this.#left > before) await this.#press(pair)
  }

  async #press([more, less]: Pair): Promise<void> {
    const { tab, signal } = this.#turning
    const before = this.#now
    this.#keys += 1
    await sendKey(tab.session, parseKey(this.#wanted > before ? more : less), { signal })
    this.#now = (await read(this.#turning)).now ?? Number.NaN
    if (this.#now !== before) return
    await tab.clock.sleep(restMs, signal)
    this.#now = (await read(this.#turning)).now ?? Number.NaN
  }
}
