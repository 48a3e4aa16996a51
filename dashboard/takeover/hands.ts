// What fingers, mouse and keys do on the picture, as events of the tab. One finger taps and scrolls; held down it drags (as for
// the puzzle of a captcha); two zoom and move the picture itself. Letters of a phone's keyboard and of input methods come as text.
import type { HandEvent } from "./connection.ts"
import type { View } from "./view.ts"

const buttons = ["left", "middle", "right"] as const
const holdMs = 350
const tapPixels = 10

export function watchMouse(view: View, send: (event: HandEvent) => void): void {
  const { canvas } = view
  let held: (typeof buttons)[number] | undefined
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") return
    canvas.setPointerCapture(event.pointerId)
    held = buttons[event.button] ?? "left"
    mouse("down", event)
  })
  canvas.addEventListener("pointerup", (event) => {
    if (event.pointerType !== "mouse") return
    mouse("up", event)
    held = undefined
  })
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") mouse("move", event)
  })
  canvas.addEventListener("contextmenu", (event) => event.preventDefault())
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault()
      if (event.ctrlKey) return view.zoomAt(event.clientX, event.clientY, Math.exp(-event.deltaY / 300))
      send({ kind: "wheel", ...view.pointAt(event), dx: event.deltaX, dy: event.deltaY })
    },
    { passive: false },
  )
  function mouse(what: "down" | "up" | "move", event: PointerEvent): void {
    const clicks = what === "move" ? 0 : Math.min(3, Math.max(1, event.detail))
    const button = held ?? "left"
    send({
      kind: "mouse",
      event: what,
      ...view.pointAt(event),
      button,
      clicks,
      held: held !== undefined,
      modifiers: modifiersOf(event),
    })
  }
}

export function watchTouch(view: View, send: (event: HandEvent) => void, tapped: () => void): void {
  const { stage } = view
  const fingers = new Map<number, { x: number; y: number }>()
  let began = { x: 0, y: 0 }
  let mode: "none" | "tap" | "scroll" | "drag" | "zoom" = "none"
  let timer: ReturnType<typeof setTimeout> | undefined
  const at = (x: number, y: number) => view.pointAt({ clientX: x, clientY: y })
  const press = (what: "down" | "up" | "move", x: number, y: number) =>
    send({ kind: "mouse", event: what, ...at(x, y), clicks: what === "move" ? 0 : 1, held: what === "move" })
  stage.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" || (event.target as Element).closest("button, input")) return
    const [first] = fingers.values()
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    clearTimeout(timer)
    if (first) {
      // What it drags is let go where it is, and not where the second one has come.
      if (mode === "drag") press("up", first.x, first.y)
      mode = "zoom"
      return
    }
    began = { x: event.clientX, y: event.clientY }
    mode = "tap"
    timer = setTimeout(() => {
      mode = "drag"
      press("down", began.x, began.y)
    }, holdMs)
  })
  stage.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId)
    if (!finger) return
    const { clientX: x, clientY: y } = event
    if (mode === "tap" && Math.hypot(x - began.x, y - began.y) > tapPixels) {
      clearTimeout(timer)
      mode = "scroll"
    }
    if (mode === "scroll") {
      const scale = view.scale
      send({ kind: "wheel", ...at(x, y), dx: (finger.x - x) / scale, dy: (finger.y - y) / scale })
    }
    if (mode === "drag") press("move", x, y)
    if (mode === "zoom") zoom(event.pointerId, x, y)
    fingers.set(event.pointerId, { x, y })
  })
  const lift = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return
    clearTimeout(timer)
    if (mode === "tap" && event.type === "pointerup") {
      press("move", began.x, began.y)
      press("down", began.x, began.y)
      press("up", began.x, began.y)
      tapped()
    }
    if (mode === "drag") press("up", event.clientX, event.clientY)
    if (fingers.size === 0) mode = "none"
  }
  stage.addEventListener("pointerup", lift)
  stage.addEventListener("pointercancel", lift)
  function zoom(id: number, x: number, y: number): void {
    const own = fingers.get(id)
    const other = [...fingers].find(([each]) => each !== id)?.[1]
    if (!own || !other) return
    const before = Math.hypot(own.x - other.x, own.y - other.y)
    const now = Math.hypot(x - other.x, y - other.y)
    if (before > 0) view.zoomAt((x + other.x) / 2, (y + other.y) / 2, now / before)
    view.moveBy((x - own.x) / 2, (y - own.y) / 2)
  }
}

/** `field` takes what phones and input methods write; it is always empty again. */
export function watchKeys(field: HTMLInputElement, send: (event: HandEvent) => void): void {
  let isComposing = false
  /** A key that went down elsewhere, as on the button of a question, does not come up in the tab. */
  const held = new Set<string>()
  const key = (what: "down" | "up", name: string, event?: KeyboardEvent) =>
    send({
      kind: "key",
      event: what,
      key: name,
      code: event?.code ?? name,
      keyCode: event?.keyCode ?? keyCodes[name] ?? 0,
      modifiers: event ? modifiersOf(event) : 0,
    })
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.key === "Process" || event.key === "Unidentified" || event.key === "Dead") return
    const isPaste = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v"
    if (isPaste) return
    // A letter by itself is typed into the field, and sent as what it is there.
    if ([...event.key].length === 1 && !event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    held.add(event.code)
    key("down", event.key, event)
  })
  field.addEventListener("keyup", (event) => {
    if (held.delete(event.code)) key("up", event.key, event)
  })
  field.addEventListener("compositionstart", () => (isComposing = true))
  field.addEventListener("compositionend", () => {
    isComposing = false
    flush()
  })
  field.addEventListener("beforeinput", (event) => {
    const name = deletions[event.inputType]
    if (name === undefined || isComposing) return
    event.preventDefault()
    key("down", name)
    key("up", name)
  })
  field.addEventListener("input", () => {
    if (!isComposing) flush()
  })
  field.addEventListener("paste", (event) => {
    event.preventDefault()
    const text = event.clipboardData?.getData("text/plain") ?? ""
    if (text !== "") send({ kind: "text", text: text.slice(0, 10_000) })
  })
  function flush(): void {
    const text = field.value
    field.value = ""
    // One letter is a key: pages that count keys see it as one.
    if ([...text].length === 1) {
      key("down", text)
      key("up", text)
    } else if (text !== "") send({ kind: "text", text })
  }
}

const deletions: Readonly<Record<string, string>> = {
  deleteContentBackward: "Backspace",
  deleteContentForward: "Delete",
  insertLineBreak: "Enter",
  insertParagraph: "Enter",
}
const keyCodes: Readonly<Record<string, number>> = { Backspace: 8, Delete: 46, Enter: 13 }

function modifiersOf(event: { altKey: boolean; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): number {
  return (event.altKey ? 1 : 0) + (event.ctrlKey ? 2 : 0) + (event.metaKey ? 4 : 0) + (event.shiftKey ? 8 : 0)
}
