// act: type. Replaces the text of a field; `slowly` presses key by key, for pages that watch the keyboard.
import { AppError } from "../../../kernel/index.ts"
import { callAgent } from "../frames.ts"
import type { EditState } from "../inject/edit.ts"
import { parseRef, staleRef } from "../refs.ts"
import type { Operation, Tab } from "../tab.ts"
import { click } from "./click.ts"
import { characterKey, parseKey, sendKey } from "./keyboard.ts"
import { failure, reach } from "./reach.ts"

export interface TypeRequest {
  ref: string
  text: string
  submit: boolean
  slowly: boolean
}

/** As fast as a quick typist: pages that search while one types see each key. */
export const slowKeyMs = 75

export async function type(
  tab: Tab,
  request: TypeRequest,
  operation: Operation,
  progress: { sent: boolean },
): Promise<void> {
  const entry = tab.refs.resolve(request.ref, tab)
  const number = parseRef(request.ref)
  await reach(tab, entry, number, { editable: true, point: false, arm: false, settle: false }, operation)
  if (request.slowly)
    await click(tab, { ref: request.ref, doubleClick: false, button: "left", modifiers: [] }, operation, progress)
  // Waited for before the text is sent: the two travel by different roads, and the text could overtake.
  const state = await callAgent<EditState>(
    entry.world,
    "edit",
    { id: entry.id, replace: true, value: request.text },
    operation.signal,
  )
  if (state.kind === "gone") throw staleRef(number)
  if (state.kind === "not-editable") throw failure({ kind: "not-editable" }, number)
  if (state.kind === "bad-value") {
    throw new AppError("bad-request", `The field of ref ${number} does not take this value`, {
      hint: "Dates are written 2026-01-31, times 13:45, months 2026-01, weeks 2026-W05, colours #ff4500",
    })
  }
  progress.sent = true
  if (state.kind === "keys") await sendKey(tab.session, parseKey("ControlOrMeta+A"), { signal: operation.signal })
  if (state.kind !== "set") await enterText(tab, request, operation.signal)
  if (request.submit) await sendKey(tab.session, parseKey("Enter"), { signal: operation.signal })
}

async function enterText(tab: Tab, request: TypeRequest, signal: AbortSignal): Promise<void> {
  const limits = { signal, timeoutMs: 0 }
  // What was selected goes by the first key; an empty text must remove it too.
  if (request.text === "") return sendKey(tab.session, parseKey("Delete"), { signal })
  if (!request.slowly) {
    await tab.session.send("Input.insertText", { text: request.text }, limits)
    return
  }
  for (const [index, character] of [...request.text].entries()) {
    if (index > 0) await tab.clock.sleep(slowKeyMs, signal)
    await sendKey(tab.session, characterKey(character), { signal })
  }
}
