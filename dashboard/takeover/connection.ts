// The way to the tab: the link's token is exchanged for a key, pictures and words come as one stream, hands go as posts, one
// after the other and never out of order.
import type { z } from "zod"
import type { PagePicker } from "../../src/browser/page/inject/pickers.ts"
import type { handEvent } from "../../src/gateway/endpoints/takeovers.ts"

export type HandEvent = z.input<typeof handEvent>

/** See TakeoverState of browser control. */
export interface Shown {
  url: string
  title: string
  dialog: { type: string; message: string } | null
  picker: PagePicker | null
  tabs: { targetId: string; title: string; shown: boolean }[]
  width: number
  height: number
}

export interface Listener {
  picture(jpeg: Blob): void
  state(state: Shown): void
  /** `over`: given back, or its time is over; else the connection was lost and is tried again. */
  ended(over: boolean, why: string, code?: string): void
}

const answerMs = 30_000
/** The gateway says that it lives every ten seconds. */
const silenceMs = 25_000
const kinds = { picture: 1, state: 2, over: 3 }
const keyName = "svc-takeover-held"

export class Refused extends Error {
  readonly code: string

  constructor(message: string, code = "") {
    super(message)
    this.code = code
  }
}

/** What this tab of the browser has: the key, and until it is known to be good, the token that it is to be had for. */
export interface Held {
  key: string
  token?: string | undefined
  again?: boolean
}

function keep(held: Held): void {
  sessionStorage.setItem(keyName, JSON.stringify(held))
}

/** By the token of the address, or as this tab has it already. */
export function holding(again?: string): Held | undefined {
  const token = again ?? location.hash.slice(1)
  if (token === "") return JSON.parse(sessionStorage.getItem(keyName) ?? "null") ?? undefined
  const key = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0"))
  const held = { key: key.join(""), token, again: again !== undefined }
  keep(held)
  // It works once: neither the history nor a copied address needs it.
  history.replaceState(null, "", location.pathname)
  return held
}

/** Gives why the tab is in hand. What has lost its answer is asked again: the link is used up by then, and the key good. */
export async function enter({ key, token, again }: Held): Promise<string> {
  const byKey = () => ask("", key)
  const { reason } = await (token === undefined
    ? byKey()
    : ask("claim", undefined, { token, again, key }).catch((error: unknown) => {
        if (!(error instanceof Refused) || error.code !== "unauthorized") throw error
        return byKey()
      }))
  keep({ key })
  return String(reason ?? "")
}

export function forget(): void {
  sessionStorage.removeItem(keyName)
}

export async function ask(path: string, key: string | undefined, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`/takeover/${path}`, {
    method: body ? "POST" : "GET",
    headers: { ...(key ? { authorization: `Bearer ${key}` } : {}), "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(answerMs),
  })
  const answer = (await response.json()) as { error?: { code?: string; message: string; hint?: string } } & Record<
    string,
    unknown
  >
  if (response.ok) return answer
  const words = answer.error ? [answer.error.message, answer.error.hint].filter(Boolean).join(". ") : "It did not work"
  throw response.status === 401 || response.status === 403 || response.status === 404 || response.status === 410
    ? new Refused(words, answer.error?.code)
    : new Error(words)
}

/** Reads until the stream ends; again and again until it is over. */
export async function follow(key: string, listener: Listener): Promise<void> {
  for (let pause = 500; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      const isOver = await read(key, listener)
      if (isOver) return listener.ended(true, "The tab was given back, or its time is over.")
      pause = 250
    } catch (error) {
      if (error instanceof Refused) return listener.ended(true, error.message, error.code)
    }
    listener.ended(false, "The connection was lost. Trying again …")
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

async function read(key: string, listener: Listener): Promise<boolean> {
  // A connection that is cut on its way, as between two networks of a phone, ends by itself only after minutes.
  const control = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => control.abort(), silenceMs)
  }
  wait()
  try {
    const response = await fetch("/takeover/stream", {
      headers: { authorization: `Bearer ${key}` },
      signal: control.signal,
    })
    if (!response.ok || !response.body) {
      const { error } = (await response.json()) as { error?: { code?: string; message: string; hint?: string } }
      const words = [error?.message, error?.hint].filter(Boolean).join(". ") || "It did not work"
      throw response.status < 500 ? new Refused(words, error?.code) : new Error("not now")
    }
    return await take(response.body.getReader(), listener, wait)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether it is over, when nothing more comes. */
async function take(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  listener: Listener,
  heard: () => void,
): Promise<boolean> {
  let rest = new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return false
    heard()
    const joined = new Uint8Array(rest.length + value.length)
    joined.set(rest)
    joined.set(value, rest.length)
    let at = 0
    while (joined.length - at >= 5) {
      const length = new DataView(joined.buffer, joined.byteOffset + at + 1, 4).getUint32(0)
      if (joined.length - at - 5 < length) break
      const content = joined.slice(at + 5, at + 5 + length)
      if (joined[at] === kinds.over) return true
      if (joined[at] === kinds.picture) listener.picture(new Blob([content], { type: "image/jpeg" }))
      if (joined[at] === kinds.state) listener.state(JSON.parse(new TextDecoder().decode(content)) as Shown)
      at += 5 + length
    }
    rest = joined.slice(at)
  }
}

/** Events of the hands, in their order: what comes while a post is under way goes with the next. */
export function sender(key: string, failed: (why: string) => void): (event: HandEvent) => void {
  let waiting: HandEvent[] = []
  let isBusy = false
  const flush = async () => {
    isBusy = true
    while (waiting.length > 0) {
      const events = waiting.slice(0, 100)
      waiting = waiting.slice(100)
      try {
        await ask("input", key, { events })
      } catch (error) {
        failed((error as Error).message)
      }
    }
    isBusy = false
  }
  return (event) => {
    const last = waiting.at(-1)
    // Of moves that nobody has seen yet only the last counts.
    if (event.kind === "mouse" && event.event === "move" && last?.kind === "mouse" && last.event === "move")
      waiting.pop()
    waiting.push(event)
    if (!isBusy) void flush()
  }
}
