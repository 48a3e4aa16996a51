// What is written in a conversation, as the browser keeps it until it is sent, and the files that are on their way to it.
import { send } from "../../api.ts"
import { wordsOf } from "../../ui/parts.tsx"
import { type Signal, signal } from "../../ui/signals.ts"
import { toast } from "../../ui/toast.tsx"
import { type Saying, say, store, stored } from "./unsent.ts"

export interface Written extends Pick<Saying, "text" | "files"> {
  /** The message that it answers. */
  to?: { ref: string; text: string } | undefined
}

/** Changes what is written. */
export type Write = (change: Partial<Written>) => void

export interface Writing {
  written: Signal<Written>
  /** Files that the gateway does not have yet. */
  coming: Signal<readonly File[]>
  write: Write
  add: (list: readonly File[], maxBytes: number) => Promise<void>
  submit: () => void
}

const nothing: Written = { text: "", files: [], to: undefined }

/** By conversation. */
const all = new Map<string, Writing>()

/** As the browser has it, which other tabs may have changed; the same one where a file is on its way to it. */
export function writingOf(chat: string): Writing {
  const known = all.get(chat)
  const writing = known?.coming.current.length ? known : createWriting(chat)
  all.set(chat, writing)
  return writing
}

function createWriting(chat: string): Writing {
  const key = `svc-chat-text:${chat}`
  const written = signal(stored(key, nothing))
  const coming = signal<readonly File[]>([])
  const write: Write = (change) => {
    written.current = { ...written.current, ...change }
    store(key, written.current)
  }
  const add = async (list: readonly File[], maxBytes: number) => {
    coming.current = [...coming.current, ...list]
    for (const file of list) {
      try {
        const id = await upload(file, maxBytes)
        write({ files: [...written.current.files, { id, name: file.name }] })
      } catch (error) {
        toast(wordsOf(error), "bad")
      }
      coming.current = coming.current.filter((each) => each !== file)
    }
  }
  const submit = () => {
    const { text, files, to } = written.current
    // It would go without them.
    if (coming.current.length > 0) return toast("A file is still on its way: send when it is there", "bad")
    if (text.trim() === "" && files.length === 0) return
    void say({ id: crypto.randomUUID(), chat, text, files, ...(to && { replyTo: to.ref }) })
    write(nothing)
  }
  return { written, coming, write, add, submit }
}

async function upload(file: File, maxBytes: number): Promise<string> {
  if (file.size > maxBytes) throw new Error(`${file.name} is larger than ${Math.floor(maxBytes / 1_048_576)} MB`)
  const headers = { "content-type": file.type || "application/octet-stream" }
  const answer = await send("/api/chat/files", { method: "POST", body: file, headers })
  return ((await answer.json()) as { id: string }).id
}
