// Asks before something that cannot be taken back. The browser's own dialog keeps the focus and hears Escape.
import { signal } from "./signals.ts"
import { useEffect, useRef } from "preact/hooks"

interface Question {
  title: string
  text: string
  action: string
  answer: (yes: boolean) => void
}

const open = signal<Question | undefined>(undefined)

export function confirm(question: Omit<Question, "answer">): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      open.value = undefined
      resolve(yes)
    }
    open.value = { ...question, answer }
  })
}

export function Confirm() {
  const dialog = useRef<HTMLDialogElement>(null)
  const question = open.value
  useEffect(() => {
    if (question) dialog.current?.showModal()
  }, [question])
  if (!question) return null
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => question.answer(false)}>
      <h2 id="question">{question.title}</h2>
      <p>{question.text}</p>
      <form method="dialog" class="actions">
        <button type="submit">Cancel</button>
        <button type="button" class="danger" onClick={() => question.answer(true)}>
          {question.action}
        </button>
      </form>
    </dialog>
  )
}
