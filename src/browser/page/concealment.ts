// What pages of a tab must not show: secrets that were filled in, and what a person typed who had taken it over.
import { AppError } from "../../kernel/index.ts"
import { addressOfFrame } from "./frame-address.ts"
import { callAgent, type Frame, unlessGone, type World } from "./frames.ts"
import type { SecretState } from "./inject/conceal.ts"
import { parseRef, staleRef } from "./refs.ts"
import type { Operation, Tab } from "./tab.ts"

/** The worlds that there are: a document without one holds nothing of ours. */
function worldsOf(tab: Tab): World[] {
  return tab.frames.all.flatMap(({ world }) => (world ? [world] : []))
}

/** Of the element's document, as the browser has it. */
export async function originOf(tab: Tab, ref: string, signal: AbortSignal): Promise<string> {
  return await callAgent<string>(tab.refs.resolve(ref, tab).world, "origin", null, signal)
}

export interface Filling {
  ref: string
  name: string
  origin: string
  value: string
  anyField: boolean
}

/** Throws `forbidden` where the document or the field is not one for it. */
export async function fillSecret(tab: Tab, filling: Filling, { signal }: Operation): Promise<void> {
  const { ref, name, origin, value, anyField } = filling
  const number = parseRef(ref)
  const { world, id } = tab.refs.resolve(ref, tab)
  tab.concealment.add(origin, value)
  const state = await callAgent<SecretState>(world, "secret", { id, origin, value, anyField }, signal)
  switch (state.kind) {
    case "filled":
      return
    case "gone":
      throw staleRef(number)
    case "not-editable":
      throw new AppError("not-editable", `The element of ref ${number} is no field that a secret could be filled into`)
    case "refused":
      throw new AppError("text-refused", `The field of ref ${number} does not take the secret ${name}`)
    case "elsewhere":
      throw new AppError("forbidden", `The page of ref ${number} is of another origin than the secret ${name}`)
    case "shown":
      throw new AppError(
        "forbidden",
        `The field of ref ${number} shows what it holds; the secret ${name} goes into password fields only`,
        {
          hint: "Use the ref of a password or code field; its owner can allow others with svc secrets set --any-field",
        },
      )
  }
}

/** Throws `forbidden` while a field of the page holds what must not be seen: code could read it. */
export async function refuseCodeBesideSecrets(tab: Tab, { signal }: Operation): Promise<void> {
  if (!tab.concealment.isUsed) return
  const counts = await Promise.all(
    worldsOf(tab).map((world) => unlessGone(callAgent<number>(world, "concealed", null, signal))),
  )
  if (!counts.some((count) => (count ?? 0) > 0)) return
  throw new AppError("forbidden", "A field of this page holds a secret: no code is run beside it", {
    hint: "Submit or leave the form first; read the page with a snapshot",
  })
}

/** Before a picture: dots where a page shows by itself what was filled in. */
export async function concealWords(tab: Tab, signal: AbortSignal): Promise<void> {
  if (!tab.concealment.hasValues) return
  await Promise.all(
    tab.frames.all.map(async (frame) => {
      // A frame of another site need not answer for that: one that does not would hold up every picture.
      const address = addressOfFrame(tab, frame)
      if (address !== "" && tab.concealment.valuesFor(new URL(address).origin).length === 0) return
      const work = async () => {
        const world = await tab.frames.world(frame, signal)
        // The page of an origin has what was filled into it; those of others are not told.
        const values = tab.concealment.valuesFor(await callAgent<string>(world, "origin", null, signal))
        if (values.length > 0) await callAgent(world, "concealWords", values, signal)
      }
      await unlessGone(work())
    }),
  )
}

/** By then a document has heard of it that answers at all. */
const pressMs = 1_000

/**
 * From now on, what a person types into the documents that there are is concealed, and what they would open is noticed.
 * Asked again when there are new ones. A frame that does not answer holds up no press for long, and what `isTyped` only
 * where it may be typed into that frame.
 */
export async function watchTyping(tab: Tab, signal: AbortSignal, isTyped: boolean): Promise<void> {
  tab.concealment.isUsed = true
  const { watched } = tab.concealment
  const isNew = ({ world }: Frame) => !world || !watched.has(world)
  const watch = async (frame: Frame) => {
    const world = await tab.frames.world(frame, signal)
    await callAgent(world, "watchPerson", null, signal)
    watched.add(world)
  }
  const asked = new Map(tab.frames.all.filter(isNew).map((frame) => [frame, unlessGone(watch(frame))]))
  // Where it is not waited for, nobody is told.
  for (const done of asked.values()) done.catch(() => undefined)
  const { main } = tab.frames
  await asked.get(main)
  asked.delete(main)
  if (asked.size === 0) return
  if (!isTyped) return await untilHeard(tab, asked)
  const typedInto = async ([frame, done]: [Frame, Promise<unknown>]) => {
    if (await tab.frames.mayHaveFocus(frame, signal)) await done
  }
  await Promise.all([...asked].map(typedInto))
}

/** Waits for the frames that answer at all, and for none of them long: one that did not is not waited for again until it has. */
export async function untilHeard(tab: Tab, asked: ReadonlyMap<Frame, Promise<unknown>>): Promise<void> {
  const { silent } = tab.concealment
  const left = new Set(asked.keys())
  const waited: Promise<void>[] = []
  for (const [frame, done] of asked) {
    const note = () => {
      left.delete(frame)
      silent.delete(frame)
    }
    // Whoever asked hears of what went wrong.
    const heard = done.then(note, () => undefined)
    if (!silent.has(frame)) waited.push(heard)
  }
  const enough = new AbortController()
  const limit = tab.clock.sleep(pressMs, enough.signal).catch(() => undefined)
  await Promise.race([Promise.all(waited), limit])
  enough.abort()
  for (const frame of left) silent.add(frame)
}

export async function leaveTyping(tab: Tab, signal: AbortSignal): Promise<void> {
  const { watched } = tab.concealment
  const left = worldsOf(tab).filter((world) => watched.delete(world))
  await Promise.all(left.map((world) => unlessGone(callAgent(world, "leavePerson", null, signal))))
}
