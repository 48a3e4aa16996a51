// What both sides of the comparison can do: look at the page as text, act on refs that stand in that text.
export interface Hand {
  readonly name: string
  /** Calls of tools made, and characters that a model would have read of their answers. */
  readonly spent: { calls: number; chars: number }
  open(url: string): Promise<void>
  /** `short` is what an agent looks at first, `whole` what it asks for when that does not help. */
  look(kind: "short" | "whole"): Promise<string>
  click(ref: string, options?: { double?: boolean }): Promise<Outcome>
  type(ref: string, text: string): Promise<Outcome>
  /** One key, by its name or its character, to what has the focus. */
  press(key: string): Promise<Outcome>
  drag(from: string, to: string): Promise<Outcome>
  select(ref: string, value: string): Promise<Outcome>
  /** Down by about a view: the page, or the element that scrolls. */
  scroll(ref: string | undefined): Promise<Outcome>
  /** Whether the page has what the task wanted; asked behind the agent's back, and not counted. */
  isDone(): Promise<boolean>
  stop(): Promise<void>
}

export interface Outcome {
  ok: boolean
  /** What the tool said. */
  said: string
}
