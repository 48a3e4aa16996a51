// act: type. Puts text into a field, then reads the field: text that is not there is typed once more, key by key, and if
// it is still not there the caller is told what is. `slowly` presses key by key at once, for pages that watch the keyboard.
import { AppError } from "../../../kernel/index.ts"
import { hasStrangers } from "../frame-address.ts"
import { callAgent, type World } from "../frames.ts"
import type { EditMode, EditState, Held } from "../inject/edit.ts"
import { parseRef, staleRef } from "../refs.ts"
import type { Operation, Tab } from "../tab.ts"
import { click } from "./click.ts"
import { turnDial } from "./dial.ts"
import { holds } from "./held.ts"
import { characterKey, parseKey, sendKey } from "./keyboard.ts"
import type { Progress } from "./mouse.ts"
import { failure, reach } from "./reach.ts"

export interface TypeRequest {
  ref: string
  text: string
  submit: boolean
  slowly: boolean
  mode: EditMode
}

/** As fast as a quick typist: pages that search while one types see each key. */
export const slowKeyMs = 75
/** Longer texts are not typed a second time: it would take longer than anyone waits. */
const mendableChars = 2_000

export async function type(tab: Tab, request: TypeRequest, operation: Operation, progress: Progress): Promise<void> {
  const { world, id, frame } = tab.refs.resolve(request.ref, tab)
  const number = parseRef(request.ref)
  await reach(
    tab,
    tab.refs.resolve(request.ref, tab),
    number,
    { editable: true, point: false, arm: false, settle: false },
    operation,
  )
  if (request.slowly && request.mode !== "caret")
    await click(tab, { ref: request.ref, doubleClick: false, button: "left", modifiers: [] }, operation, progress)
  const typing: Typing = { tab, world, number, request, isWatched: hasStrangers(tab, frame), signal: operation.signal }
  const state = await edit(typing, id)
  progress.sent = true
  if (state.kind === "dial") await turnDial({ ...typing, ...request, id })
  else {
    const isByKeys = state.isHelper === true && request.text.length <= mendableChars
    await enterText(typing, state, request.slowly ? slowKeyMs : isByKeys ? 0 : undefined)
    await checkHeld(typing, state)
  }
  progress.rested = !request.submit
  if (request.submit) await sendKey(tab.session, parseKey("Enter"), { signal: operation.signal })
}

interface Typing {
  tab: Tab
  world: World
  number: number
  request: TypeRequest
  /** Frames of other sites are there, which could take the focus between two keys, and what is typed with it. */
  isWatched: boolean
  signal: AbortSignal
}

type Ready = Extract<EditState, { id: number }>

/** Waited for before the text is sent: the two travel by different roads, and the text could overtake. */
async function edit({ world, number, request, isWatched, signal }: Typing, id: number): Promise<Ready> {
  const { mode, text: value, slowly } = request
  const state = await callAgent<EditState>(world, "edit", { id, mode, value, atOnce: isWatched && !slowly }, signal)
  if (state.kind === "gone") throw staleRef(number)
  if (state.kind === "not-editable") throw failure({ kind: "not-editable" }, number)
  if (!("id" in state)) throw wrongForm(number)
  return state
}

export function wrongForm(number: number): AppError {
  return new AppError("bad-request", `The field of ref ${number} does not take this value`, {
    hint: "Dates are written 2026-01-31, times 13:45, months 2026-01, weeks 2026-W05, colours #ff4500",
  })
}

/** `keyMs`: the pause between keys; all at once without it. */
async function enterText(typing: Typing, state: Ready, keyMs: number | undefined): Promise<void> {
  if (state.kind === "set" || state.kind === "written") return
  const { tab, request, signal } = typing
  const { text, mode } = request
  if (state.kind === "keys")
    await sendKey(tab.session, parseKey(mode === "append" ? "Control+End" : "ControlOrMeta+A"), { signal })
  // What was selected goes by the first key; an empty text must remove it too.
  if (text === "") return mode === "replace" ? sendKey(tab.session, parseKey("Delete"), { signal }) : undefined
  if (keyMs === undefined) {
    await checkFocus(typing)
    // Some lists open at a key alone, which none comes without: the last letter is one.
    const last = state.opens === true ? (/[\p{L}\p{N}]$/u.exec(text)?.[0] ?? "") : ""
    const rest = text.slice(0, text.length - last.length)
    if (rest !== "") await tab.session.send("Input.insertText", { text: rest }, { signal, timeoutMs: 0 })
    if (last !== "") await sendKey(tab.session, characterKey(last), { signal })
    return
  }
  for (const [index, character] of [...text].entries()) {
    if (index > 0 && keyMs > 0) await tab.clock.sleep(keyMs, signal)
    await checkFocus(typing)
    await sendKey(tab.session, characterKey(character), { signal })
  }
}

/** Throws `text-refused` where a frame has taken the focus away. */
async function checkFocus({ world, number, isWatched, signal }: Typing): Promise<void> {
  if (!isWatched || (await callAgent<boolean>(world, "holdsFocus", null, signal))) return
  throw new AppError(
    "text-refused",
    `Another frame has taken the focus while the field of ref ${number} was typed into`,
    {
      hint: "Nothing more was typed. Do not try it again on this page: the frame may want what is typed",
    },
  )
}

async function checkHeld(typing: Typing, state: Ready): Promise<void> {
  const { request, number } = typing
  const before = state.before ?? ""
  const isRight = (held: Held, fixed = "") =>
    held.kind === "gone" || held.text === null || held.taken || holds(held.text, { ...request, before, fixed })
  const first = await readHeld(typing, state.id)
  if (isRight(first) || first.kind === "gone") return
  const isMendable = request.mode === "replace" && !request.slowly && request.text.length <= mendableChars
  // The field may be another one by now; and it may only take keys.
  const again = isMendable && state.kind !== "set" ? await typeAgain(typing, first.id) : { held: first, fixed: "" }
  const second = again.held
  if (isRight(second, again.fixed) || second.kind === "gone") return
  const what = second.secret ? "something else" : JSON.stringify((second.text ?? "").slice(0, 200))
  throw new AppError("text-refused", `The field of ref ${number} holds ${what} instead of what was typed`, {
    hint: "Look at the page: the field may have a limit or a form of its own, or the text may have been taken elsewhere",
  })
}

/** `fixed`: what the field keeps when everything in it is deleted, such as the country code of a mask. */
async function typeAgain(typing: Typing, id: number): Promise<{ held: Held; fixed: string }> {
  const cleared = await edit(typing, id)
  if (cleared.kind !== "focused") {
    await enterText(typing, cleared, 0)
    return { held: await readHeld(typing, cleared.id), fixed: "" }
  }
  await sendKey(typing.tab.session, parseKey("Delete"), { signal: typing.signal })
  const rest = await readHeld(typing, cleared.id)
  const state = await edit(typing, rest.kind === "held" ? rest.id : cleared.id)
  await enterText(typing, state, 0)
  return { held: await readHeld(typing, state.id), fixed: rest.kind === "held" ? (rest.text ?? "") : "" }
}

/** What the field holds when the page's scripts have had their turn. A page that went away has taken the text. */
async function readHeld({ world, request, signal }: Typing, id: number): Promise<Held> {
  try {
    return await callAgent<Held>(world, "held", { id, text: request.text }, signal)
  } catch (error) {
    if (error instanceof AppError && error.code === "stale-ref") return { kind: "gone" }
    throw error
  }
}
