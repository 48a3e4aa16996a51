// Fields, with their labels.
import type { ComponentChildren } from "preact"
import { useEffect, useId } from "./hooks.ts"
import { useSignal } from "./signals.ts"

interface FieldProps {
  label: string
  /** What it shows, and what is typed into it: a signal, or what acts like one. */
  of: { current: string }
  /** Said below the field. */
  hint?: ComponentChildren
  /** What is wrong with the value. */
  problem?: string | undefined
  placeholder?: string
  type?: "text" | "search" | "password" | "number" | "datetime-local"
  rows?: number | undefined
}

const shownMs = 100

export function Field({ label, of, hint, problem, placeholder = "", type = "text", rows }: FieldProps) {
  const id = useId()
  // A browser makes a field for dates of many parts, which takes longer than a page of rows: those are shown before.
  const isShown = useSignal(type !== "datetime-local")
  useEffect(() => {
    const timer = setTimeout(() => (isShown.current = true), shownMs)
    return () => clearTimeout(timer)
  }, [])
  const shared = {
    value: of.current,
    placeholder,
    spellcheck: false,
    autocomplete: "off",
    "aria-invalid": problem !== undefined,
    "aria-describedby": hint === undefined && problem === undefined ? undefined : id,
    onInput: (event: Event) => (of.current = (event.target as HTMLInputElement).value),
  }
  return (
    <div class={type === "datetime-local" ? "field date" : "field"}>
      <label>
        <span>{label}</span>
        {rows === undefined ? (
          <input type={(isShown.current ? type : "text") as "text"} {...shared} />
        ) : (
          <textarea rows={rows} {...shared} />
        )}
      </label>
      <Hint id={id} hint={hint} problem={problem} />
    </div>
  )
}

interface SelectProps extends Pick<FieldProps, "label" | "of" | "hint" | "problem"> {
  options: readonly (string | readonly [value: string, words: string])[]
}

export function Select({ label, of, options, hint, problem }: SelectProps) {
  const id = useId()
  return (
    <div class="field">
      <label>
        <span>{label}</span>
        <select
          value={of.current}
          aria-invalid={problem !== undefined}
          aria-describedby={hint === undefined && problem === undefined ? undefined : id}
          onChange={(event) => (of.current = event.currentTarget.value)}
        >
          {options.map((option) => {
            const [key, words] = typeof option === "string" ? [option, option] : option
            return (
              <option key={key} value={key}>
                {words}
              </option>
            )
          })}
        </select>
      </label>
      <Hint id={id} hint={hint} problem={problem} />
    </div>
  )
}

function Hint({ id, hint, problem }: Pick<FieldProps, "hint" | "problem"> & { id: string }) {
  if (hint === undefined && problem === undefined) return null
  return (
    <small id={id} class={problem === undefined ? "dim" : "wrong"}>
      {problem ?? hint}
    </small>
  )
}

export function Check({ label, of }: { label: string; of: { current: boolean } }) {
  return (
    <label class="check">
      <input type="checkbox" checked={of.current} onChange={(event) => (of.current = event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

/** What a field shows that is no signal, and what is done with what is typed. */
export const bound = <Value,>(shown: Value, set: (next: Value) => unknown): { current: Value } => ({
  get current() {
    return shown
  },
  set current(next) {
    set(next)
  },
})
