// Short words about what was done, read out by a screen reader, gone by themselves; failures stay until they are closed.
import { signal } from "./signals.ts"
import { Icon } from "./icons.tsx"

interface Toast {
  id: number
  text: string
  tone: "good" | "bad"
}

const toasts = signal<Toast[]>([])
let count = 0

export function toast(text: string, tone: Toast["tone"] = "good"): void {
  const id = (count += 1)
  toasts.current = [...toasts.current.slice(-3), { id, text, tone }]
  if (tone === "good") setTimeout(() => close(id), 4_000)
}

const close = (id: number) => (toasts.current = toasts.current.filter((one) => one.id !== id))

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.current.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          <button type="button" aria-label="Close" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
