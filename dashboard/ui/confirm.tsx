// Asks before something that cannot be taken back, and for a word where one is needed. The browser's own dialog keeps the
// focus, hears Escape, and gives the focus back to where it was.
import { useEffect, useRef } from "./hooks.ts"
import { Field } from "./form.tsx"
import { type Signal, signal } from "./signals.ts"

interface Question {
  title: string
  text: string
  action: string
  /** A word to give with it. */
  field?: { label: string; of: Signal<string> }
}

const open = signal<(Question & { answer: (yes: boolean) => void }) | undefined>(undefined)

/** One at a time: what was asked before, and is not answered yet, is not wanted any more. */
export const confirm = (question: Question): Promise<boolean> =>
  new Promise((answer) => {
    open.current?.answer(false)
    open.current = { ...question, answer }
  })

export function Confirm() {
  const dialog = useRef<HTMLDialogElement>(null)
  const question = open.current
  useEffect(() => {
    if (question) dialog.current?.showModal()
  }, [question])
  if (!question) return null
  const { title, text, action, field, answer } = question
  const close = (yes: boolean) => {
    dialog.current?.close()
    open.current = undefined
    answer(yes)
  }
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => open.current === question && close(false)}>
      <h2 id="question">{title}</h2>
      <p>{text}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          close(true)
        }}
      >
        {field && <Field label={field.label} of={field.of} />}
        <div class="actions">
          <button type="button" onClick={() => close(false)}>
            Cancel
          </button>
          <button type="submit" class={field ? "main" : "danger"}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
