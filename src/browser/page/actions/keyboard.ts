// Keys by name (`Enter`, `Control+A`, `é`) as the events that a real keyboard gives.
import { AppError } from "../../../kernel/index.ts"
import type { CdpSession, SendOptions } from "../../cdp/index.ts"

export type Modifier = "Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift"

interface Key {
  key: string
  code: string
  keyCode: number
  text?: string
}

const modifierBit: Record<Exclude<Modifier, "ControlOrMeta">, number> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

/** Name, code and key code of keys that give no character, or a special one. */
const named: Record<string, Key> = Object.fromEntries(
  (
    [
      ["Enter", "Enter", 13, "\r"],
      ["Tab", "Tab", 9],
      ["Backspace", "Backspace", 8],
      ["Delete", "Delete", 46],
      ["Escape", "Escape", 27],
      ["Space", "Space", 32, " "],
      ["ArrowLeft", "ArrowLeft", 37],
      ["ArrowUp", "ArrowUp", 38],
      ["ArrowRight", "ArrowRight", 39],
      ["ArrowDown", "ArrowDown", 40],
      ["Home", "Home", 36],
      ["End", "End", 35],
      ["PageUp", "PageUp", 33],
      ["PageDown", "PageDown", 34],
      ["Insert", "Insert", 45],
      ["CapsLock", "CapsLock", 20],
      ["ContextMenu", "ContextMenu", 93],
      ["Shift", "ShiftLeft", 16],
      ["Control", "ControlLeft", 17],
      ["Alt", "AltLeft", 18],
      ["Meta", "MetaLeft", 91],
      ...Array.from({ length: 12 }, (_, index): [string, string, number] => [
        `F${index + 1}`,
        `F${index + 1}`,
        112 + index,
      ]),
    ] as [string, string, number, string?][]
  ).map(([key, code, keyCode, text]) => [
    key.toLowerCase(),
    { key: key === "Space" ? " " : key, code, keyCode, ...(text === undefined ? {} : { text }) },
  ]),
)

const aliases: Record<string, string> = {
  esc: "escape",
  return: "enter",
  del: "delete",
  left: "arrowleft",
  right: "arrowright",
  up: "arrowup",
  down: "arrowdown",
  ctrl: "control",
  cmd: "meta",
  command: "meta",
  option: "alt",
}

const punctuation: Record<string, [string, number]> = {
  "-": ["Minus", 189],
  "=": ["Equal", 187],
  "[": ["BracketLeft", 219],
  "]": ["BracketRight", 221],
  "\\": ["Backslash", 220],
  ";": ["Semicolon", 186],
  "'": ["Quote", 222],
  ",": ["Comma", 188],
  ".": ["Period", 190],
  "/": ["Slash", 191],
  "`": ["Backquote", 192],
}

/** What Ctrl (or Cmd) with a letter does in a text field on macOS, where the browser does not know it by itself. */
const macCommands: Record<string, string> = { a: "selectAll", c: "copy", v: "paste", x: "cut", z: "undo" }

export function modifierBits(modifiers: readonly Modifier[], platform: NodeJS.Platform = process.platform): number {
  return modifiers.reduce((bits, modifier) => bits | modifierBit[plainModifier(modifier, platform)], 0)
}

function plainModifier(modifier: Modifier, platform: NodeJS.Platform): Exclude<Modifier, "ControlOrMeta"> {
  if (modifier !== "ControlOrMeta") return modifier
  return platform === "darwin" ? "Meta" : "Control"
}

export interface KeyPress extends Key {
  modifiers: number
  commands: string[]
}

const modifierNames: Record<string, Modifier> = {
  alt: "Alt",
  control: "Control",
  controlormeta: "ControlOrMeta",
  meta: "Meta",
  shift: "Shift",
}

/** `Shift+Tab`, `Control+A`, `+`, `Control++`. Throws `bad-request` for a key that no keyboard has. */
export function parseKey(text: string, platform: NodeJS.Platform = process.platform): KeyPress {
  const parts = text.length > 1 ? text.replace(/\+\+$/, "+Plus").split("+") : [text]
  const last = parts.pop() as string
  const modifiers = parts.map((part) => {
    const lower = part.toLowerCase()
    const modifier = modifierNames[aliases[lower] ?? lower]
    if (!modifier) throw unknownKey(text)
    return modifier
  })
  const bits = modifierBits(modifiers, platform)
  const key = findKey(last === "Plus" ? "+" : last)
  if (!key) throw unknownKey(text)
  const shortcut = (bits & (modifierBit.Control | modifierBit.Meta)) !== 0
  const commands = platform === "darwin" && shortcut ? [macCommands[key.key.toLowerCase()] ?? ""].filter(Boolean) : []
  const press: KeyPress = { ...key, modifiers: bits, commands }
  if (shortcut || (bits & modifierBit.Alt) !== 0) {
    delete press.text
    // People write Control+A, and pages ask for the "a" that a keyboard gives there.
    const isLetter = /^[a-z]$/i.test(key.key)
    if (isLetter) press.key = (bits & modifierBit.Shift) !== 0 ? key.key.toUpperCase() : key.key.toLowerCase()
  } else if ((bits & modifierBit.Shift) !== 0 && /^[a-z]$/.test(key.key)) {
    press.key = key.key.toUpperCase()
    press.text = press.key
  }
  return press
}

function findKey(name: string): Key | undefined {
  const lower = name.toLowerCase()
  if ([...name].length > 1 || name === "") return named[aliases[lower] ?? lower]
  return characterKey(name)
}

export function characterKey(character: string): Key {
  if (character === "\n" || character === "\r") return named["enter"] as Key
  if (character === "\t") return named["tab"] as Key
  if (character === " ") return named["space"] as Key
  const upper = character.toUpperCase()
  if (/^[A-Z]$/.test(upper))
    return { key: character, code: `Key${upper}`, keyCode: upper.charCodeAt(0), text: character }
  if (/^\d$/.test(character))
    return { key: character, code: `Digit${character}`, keyCode: character.charCodeAt(0), text: character }
  const [code, keyCode] = punctuation[character] ?? ["", 0]
  return { key: character, code, keyCode, text: character }
}

function unknownKey(text: string): AppError {
  return new AppError("bad-request", `'${text.slice(0, 40)}' is not a key`, {
    hint: "Keys are named as in Enter, Tab, Escape, ArrowDown, a, Control+A, Shift+Tab",
  })
}

const releaseMs = 1_000

export async function sendKey(
  session: CdpSession,
  key: Key & { modifiers?: number; commands?: string[] },
  options: { signal: AbortSignal; holdMs?: number; hold?: () => Promise<void> },
): Promise<void> {
  const { text } = key
  const base = { key: key.key, code: key.code, windowsVirtualKeyCode: key.keyCode, modifiers: key.modifiers ?? 0 }
  const limits = { signal: options.signal, timeoutMs: 0 }
  const down = session.send(
    "Input.dispatchKeyEvent",
    {
      ...base,
      type: text === undefined ? "rawKeyDown" : "keyDown",
      ...(text === undefined ? {} : { text, unmodifiedText: text }),
      ...(key.commands?.length ? { commands: key.commands } : {}),
    },
    limits,
  )
  const up = (how: SendOptions) => session.send("Input.dispatchKeyEvent", { ...base, type: "keyUp" }, how)
  if (options.hold) {
    try {
      await down
      await options.hold()
    } catch (error) {
      // No finger stays on the key of whoever gives up.
      up({ timeoutMs: releaseMs }).catch(() => undefined)
      throw error
    }
  }
  await Promise.all([down, up(limits)])
}
