// What was written and is not in the gateway yet. It is kept in the browser until it is, so that no reload, cut or crash
// loses a word; each message has an id of its own, so that one that is sent again is there once.
import { signal } from "../../ui/signals.ts"
import { call } from "../../api.ts"
import { on } from "../../stream.ts"
import { wordsOf } from "../../ui/parts.tsx"

export interface Saying {
  /** Its own, so that it is taken in once. */
  id: string
  chat: string
  text: string
  files: { id: string; name: string }[]
  replyTo?: string
  /** Why it was not taken; empty while it is on its way. */
  problem?: string
}

const storageKey = "svc-chat-unsent"

export function stored<Value>(key: string, otherwise: Value): Value {
  return (JSON.parse(localStorage.getItem(key) ?? "null") as Value | null) ?? otherwise
}

export function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // A browser without room for it keeps it for as long as the page is open.
  }
}

/** By their ids, in the order in which they were written. */
export const unsent = signal<Readonly<Record<string, Saying>>>(stored(storageKey, {}))

/** With what other tabs of this browser have written meanwhile. */
function keep(all: Readonly<Record<string, Saying>>): void {
  unsent.current = all
  store(storageKey, all)
}
const known = () => ({ ...stored<typeof unsent.current>(storageKey, {}), ...unsent.current })

const put = (item: Saying) => keep({ ...known(), [item.id]: item })

/** It stands in the conversation, or its writer has taken it back. */
export function forget(id: string): void {
  const { [id]: gone, ...others } = known()
  if (gone) keep(others)
}

/** Of each conversation one after the other: of two that are on their way at once, the second may be there first. */
let lines = new Map<string, Promise<void>>()
/** Of what is on its way. */
let control = new AbortController()

export function say({ problem: _problem, ...item }: Saying): Promise<void> {
  put(item)
  const { signal } = control
  const said = (lines.get(item.chat) ?? Promise.resolve()).then(() => post(item, signal))
  lines.set(item.chat, said)
  return said
}

async function post(item: Saying, signal: AbortSignal): Promise<void> {
  // It was sent again by then, stands in the conversation, or was taken back.
  if (signal.aborted || !(item.id in unsent.current)) return
  try {
    await call("POST /api/chat/messages", { body: item, signal })
  } catch (error) {
    if (!signal.aborted && item.id in unsent.current) put({ ...item, problem: wordsOf(error) })
  }
}

/** What hangs on a connection that was lost keeps nothing waiting: each is known by its id, and taken in once. */
function again(): void {
  control.abort()
  control = new AbortController()
  lines = new Map()
  Object.values(unsent.current).forEach((item) => void say(item))
}
on("ready", again)
on("reset", again)
again()
