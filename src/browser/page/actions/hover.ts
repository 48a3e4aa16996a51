// act: hover and scrollIntoView. The mouse over an element, or the element in view, and nothing else.
import { callAgent } from "../frames.ts"
import { parseRef, staleRef } from "../refs.ts"
import { type Acting, sendMouse } from "./mouse.ts"
import { locate, type Place, reach } from "./reach.ts"

export async function hover({ tab, operation, progress }: Acting, place: Place): Promise<void> {
  const point = await locate(tab, place, operation, { enabled: false })
  progress.sent = true
  await sendMouse(tab, { type: "mouseMoved", point }, operation.signal)
}

export async function scrollIntoView({ tab, operation }: Acting, request: { ref: string }): Promise<void> {
  const { signal } = operation
  const entry = tab.refs.resolve(request.ref, tab)
  const number = parseRef(request.ref)
  // Refuses what is gone or not drawn; waits for what is about to be.
  await reach(
    tab,
    entry,
    number,
    { editable: false, point: false, arm: false, settle: false, enabled: false },
    operation,
  )
  let { world, id, frame } = entry
  for (;;) {
    if (!(await callAgent<boolean>(world, "scroll", { id }, signal))) throw staleRef(number)
    if (frame.parentId === undefined) return
    const owner = await tab.frames.ownerOf(frame, signal)
    if (!owner) throw staleRef(number)
    ;({ world, id, frame } = owner)
  }
}
