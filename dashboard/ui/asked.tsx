// One answer of the gateway, shown and asked for again when something says that it has changed.
import { signal } from "./signals.ts"
import { useEffect, useMemo } from "./hooks.ts"
import { isLive, on } from "../stream.ts"
import { place } from "../router.ts"
import { Back, Failure } from "./parts.tsx"

export interface Asked<Value> {
  /** Undefined until there is an answer. */
  readonly known: Value | undefined
  readonly error: unknown
  again: () => Promise<void>
}

export interface AskedOptions {
  /** Entries of the stream that mean that it may have changed. */
  topics?: readonly string[]
  /** How often it is asked without a reason, while the page is seen. */
  everyMs?: number
}

/** At most this often, whatever the stream says. */
const pauseMs = 1_000

/** `key` names what is asked: with another one it is asked anew. */
export function useAsked<Value>(key: string, ask: () => Promise<Value>, options: AskedOptions = {}): Asked<Value> {
  const asked = useMemo(() => {
    const made = createAsked(ask)
    // At once, not in an effect: those wait until something has been painted.
    void made.again()
    return made
  }, [key])
  useEffect(() => {
    let last = Date.now()
    let timer = 0
    const soon = () => {
      clearTimeout(timer)
      timer = setTimeout(
        () => {
          last = Date.now()
          void asked.again()
        },
        last + pauseMs - Date.now(),
      )
    }
    const ends = ["reset", "begun", ...(options.topics ?? [])].map((topic) => on(topic, soon))
    const clock = setInterval(() => !document.hidden && isLive.current && soon(), options.everyMs ?? 30_000)
    return () => {
      clearTimeout(timer)
      clearInterval(clock)
      for (const end of ends) end()
    }
  }, [asked])
  return asked
}

export function createAsked<Value>(ask: () => Promise<Value>): Asked<Value> {
  const value = signal<Value | undefined>(undefined)
  const error = signal<unknown>(undefined)
  let round = 0
  /** Of the answer that is known. */
  let last = 0
  return {
    get known() {
      return value.current
    },
    get error() {
      return error.current
    },
    async again() {
      const own = (round += 1)
      try {
        const answer = await ask()
        // An answer that a later one has overtaken is old. One of several that are waited for is shown: where questions come
        // faster than answers, nothing would be shown else.
        if (own < last) return
        last = own
        value.current = answer
        error.current = undefined
      } catch (thrown) {
        if (own === round) error.current = thrown
      }
    },
  }
}

/** What a form asks for: the answer to the last question, or why there is none. */
export function createQuestion<Value>() {
  const answer = signal<Value | undefined>(undefined)
  const problem = signal<unknown>(undefined)
  let round = 0
  const put = async (asked: Promise<Value>) => {
    const own = (round += 1)
    const [known, error] = await asked.then(
      (value) => [value, undefined] as const,
      (thrown: unknown) => [undefined, thrown] as const,
    )
    // Of another question than the one that is shown.
    if (own !== round) return
    answer.current = known
    problem.current = error
  }
  return { answer, problem, put }
}

/** While there is no answer: that it is on its way, or why it is not. */
export function Pending<Value>({ of }: { of: Asked<Value> }) {
  if (of.error === undefined) return <p class="dim">Loading…</p>
  const [page = "", one] = place.current.path
  return (
    <>
      {one !== undefined && <Back to={page} words="Back" />}
      <Failure error={of.error} retry={of.again} />
    </>
  )
}
