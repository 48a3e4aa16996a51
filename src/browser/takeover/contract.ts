// A tab in a person's hands: what they are shown, and what they do. No runtime.
import type { PagePicker } from "../page/inject/pickers.ts"

/** What is around the picture. */
export interface TakeoverState {
  url: string
  title: string
  /** A question of the page, which the picture does not show. */
  dialog: { type: string; message: string } | null
  /** What the browser itself would have opened, which the picture does not show either. */
  picker: PagePicker | null
  /** The tab itself and those that its pages have opened meanwhile. */
  tabs: { targetId: string; title: string; shown: boolean }[]
  /** Of the picture, in the page's own pixels: what points count in. */
  width: number
  height: number
}

export interface Viewer {
  /** A JPEG. Resolves when there is room for the next one. */
  frame(jpeg: Uint8Array): Promise<void>
  state(state: TakeoverState): void
}

export type HandEvent =
  | {
      kind: "mouse"
      event: "move" | "down" | "up"
      x: number
      y: number
      button: "left" | "middle" | "right"
      clicks: number
      held: boolean
      modifiers: number
    }
  | { kind: "wheel"; x: number; y: number; dx: number; dy: number }
  | { kind: "key"; event: "down" | "up"; key: string; code: string; keyCode: number; modifiers: number }
  /** Composed by an input method, or pasted. */
  | { kind: "text"; text: string }
  | { kind: "dialog"; accept: boolean; text?: string | undefined }
  /** Neither: nothing of it is wanted. */
  | { kind: "pick"; option?: number | undefined; value?: string | undefined }
  | { kind: "tab"; targetId: string }
  | { kind: "back" }
  | { kind: "reload" }
