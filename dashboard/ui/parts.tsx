// The small parts that pages are made of.
import { useSignal } from "./signals.ts"
import type { ComponentChildren } from "preact"
import { CallError } from "../api.ts"
import { link } from "../router.ts"
import { confirm } from "./confirm.tsx"
import { Icon, type IconName } from "./icons.tsx"
import { toast } from "./toast.tsx"

export type Tone = "good" | "busy" | "warn" | "bad" | "quiet"

const states: Record<Exclude<Tone, "quiet">, string> = {
  good: "ready done sent accepted ok allowed",
  busy: "running sending starting new",
  warn: "asked uncertain",
  bad: "failed dead refused denied",
}

export const toneOf = (state: string): Tone =>
  (Object.keys(states) as (keyof typeof states)[]).find((tone) => states[tone].split(" ").includes(state)) ?? "quiet"

/** A state as a word; its colour only repeats it. */
export function Badge({ state, tone = toneOf(state) }: { state: string; tone?: Tone }) {
  return <span class={`badge ${tone}`}>{state}</span>
}

/** Text that nobody has vouched for, and whatever has read it. */
export function OfOthers() {
  return <Badge state="words of others" tone="warn" />
}

interface ButtonProps {
  children: ComponentChildren
  /** While it runs the button waits; what it throws is told. */
  act: () => unknown
  icon?: IconName
  kind?: "plain" | "main" | "danger"
  disabled?: boolean
  /** Where the words alone do not say what it is about. */
  label?: string | undefined
  /** Title and words of the question that is asked before. */
  sure?: readonly [title: string, text: string] | false
  /** Said when it is done. */
  done?: string
}

export function Button({ children, act, icon, kind = "plain", disabled = false, label, sure, done }: ButtonProps) {
  const busy = useSignal(false)
  const run = async () => {
    if (busy.current) return
    if (sure && !(await confirm({ title: sure[0], text: sure[1], action: String(children) }))) return
    busy.current = true
    try {
      await act()
      if (done) toast(done)
    } catch (error) {
      toast(wordsOf(error), "bad")
    } finally {
      busy.current = false
    }
  }
  return (
    <button type="button" class={kind} onClick={run} disabled={disabled} aria-busy={busy.current} aria-label={label}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

export function wordsOf(error: unknown): string {
  if (error instanceof CallError && error.hint !== undefined) return `${error.message}. ${error.hint}`
  return error instanceof Error ? error.message : String(error)
}

/** What went wrong, and the next step. */
export function Failure({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const hint = error instanceof CallError ? error.hint : undefined
  return (
    <div class="failure" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {hint !== undefined && <p class="dim">{hint}</p>}
      {retry && (
        <Button act={retry} icon="again">
          Try again
        </Button>
      )}
    </div>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{title}</p>
      <div class="dim">{children}</div>
    </div>
  )
}

export function Copy({ text, what }: { text: string; what: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    toast(`Copied ${what}`)
  }
  return (
    <Button act={copy} icon="copy" label={`Copy ${what}`}>
      {null}
    </Button>
  )
}

/** A text of others, whole and as it is. */
export function Code({ text, what }: { text: string; what: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <Copy text={text} what={what} />
    </div>
  )
}

export function Json({ value, what }: { value: unknown; what: string }) {
  return <Code text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} what={what} />
}

/** What is long and seldom wanted. */
export function More({
  title,
  children,
  open = false,
}: {
  title: ComponentChildren
  children: ComponentChildren
  open?: boolean
}) {
  return (
    <details open={open}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}

interface HeadProps {
  /** The page of the list that this came from, with words for it. */
  back: readonly [page: string, words: string]
  title: ComponentChildren
  state?: string
  /** Buttons. */
  children?: ComponentChildren
}

export function Back({ to, words }: { to: string; words: string }) {
  return (
    <p class="crumb">
      <a class="back" href={link(to)}>
        <Icon name="back" />
        {words}
      </a>
    </p>
  )
}

/** Of what one entry of a list leads to. */
export function Head({ back, title, state, children }: HeadProps) {
  return (
    <>
      <Back to={back[0]} words={back[1]} />
      <div class="head">
        <h2>
          {title} {state && <Badge state={state} />}
        </h2>
        {children && <div class="buttons">{children}</div>}
      </div>
    </>
  )
}

/** Names and values. */
export function Facts({ rows }: { rows: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value || value === 0)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export function Card({
  title,
  children,
  actions,
}: {
  title: string
  children: ComponentChildren
  actions?: ComponentChildren
}) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}

/** Parts of one page, by the second word of its address. */
export function Tabs({
  page,
  of,
  current,
}: {
  page: string
  of: readonly [name: string, words: string][]
  current: string
}) {
  return (
    <div class="tabs" role="navigation" aria-label="Parts of this page">
      {of.map(([name, words]) => (
        <a
          key={name}
          href={link(page, ...(name === "" ? [] : [name]))}
          aria-current={name === current ? "true" : undefined}
        >
          {words}
        </a>
      ))}
    </div>
  )
}

interface LineProps {
  /** Where it leads. */
  to?: string | undefined
  title: ComponentChildren
  /** Beside the title. */
  aside?: ComponentChildren
  /** Below it. */
  more: ComponentChildren
  tone?: "dim" | "wrong"
}

/** What a row is about, in two lines that are cut where there is no room. */
export function Line({ to, title, aside, more, tone = "dim" }: LineProps) {
  const words = (
    <>
      <span class="cut">
        <strong>{title}</strong> <span class="dim">{aside}</span>
      </span>
      <span class={`cut ${tone}`}>{more}</span>
    </>
  )
  return to === undefined ? <span class="grow">{words}</span> : <a href={to}>{words}</a>
}
