// One thing that a person's hands do, as input of the browser.
import type { Tab } from "../page/tab.ts"
import type { HandEvent } from "./contract.ts"

const buttonBits = { left: 1, right: 2, middle: 4 }
const commandKeys = 2 | 4

export async function dispatch(
  tab: Tab,
  event: Exclude<HandEvent, { kind: "tab" | "pick" }>,
  signal: AbortSignal,
): Promise<void> {
  // A question of the page holds everything else up.
  if (tab.dialog && event.kind !== "dialog") return
  const send = (method: string, parameters: object) => tab.session.send(method, { ...parameters }, { signal })
  switch (event.kind) {
    case "mouse":
      return void (await send("Input.dispatchMouseEvent", mouse(event)))
    case "wheel": {
      const { x, y, dx, dy } = event
      return void (await send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: dx, deltaY: dy }))
    }
    case "key":
      return void (await send("Input.dispatchKeyEvent", key(event)))
    case "text":
      return void (await send("Input.insertText", { text: event.text }))
    case "dialog":
      if (tab.dialog) await tab.answerDialog({ accept: event.accept, promptText: event.text })
      return
    case "back": {
      const history = await tab.session.send<{ currentIndex: number; entries: { id: number }[] }>(
        "Page.getNavigationHistory",
        {},
        { signal },
      )
      const before = history.entries[history.currentIndex - 1]
      if (before) await send("Page.navigateToHistoryEntry", { entryId: before.id })
      return
    }
    case "reload":
      return void (await send("Page.reload", {}))
  }
}

function mouse({ event, x, y, button, clicks, held, modifiers }: Extract<HandEvent, { kind: "mouse" }>): object {
  if (event === "move") {
    const pressed = held ? { button, buttons: buttonBits[button] } : { button: "none", buttons: 0 }
    return { type: "mouseMoved", x, y, modifiers, ...pressed }
  }
  const buttons = event === "down" ? buttonBits[button] : 0
  const type = event === "down" ? "mousePressed" : "mouseReleased"
  return { type, x, y, button, buttons, clickCount: clicks, modifiers }
}

function key({ event, key: name, code, keyCode, modifiers }: Extract<HandEvent, { kind: "key" }>): object {
  const base = { key: name, code, windowsVirtualKeyCode: keyCode, modifiers }
  if (event === "up") return { ...base, type: "keyUp" }
  const isLetter = [...name].length === 1 && (modifiers & commandKeys) === 0
  const text = isLetter ? name : name === "Enter" ? "\r" : undefined
  return text === undefined ? { ...base, type: "rawKeyDown" } : { ...base, type: "keyDown", text, unmodifiedText: text }
}
