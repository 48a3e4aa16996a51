// Where words are written: kept while they are, with completion of commands and files beside them.
import { useSignal } from "../../ui/signals.ts"
import { useEffect, useRef } from "preact/hooks"
import { type Reply, send } from "../../api.ts"
import { Icon } from "../../ui/icons.tsx"
import { Button, wordsOf } from "../../ui/parts.tsx"
import { toast } from "../../ui/toast.tsx"
import { type Saying, say, store, stored } from "./unsent.ts"

type Known = Reply<"GET /api/chat">

export interface Written extends Pick<Saying, "text" | "files"> {
  /** The message that it answers. */
  to?: { ref: string; text: string } | undefined
}

/** Changes what is written. */
export type Write = (change: Partial<Written>) => void

const nothing: Written = { text: "", files: [], to: undefined }
const hasKeys = () => matchMedia("(pointer: fine)").matches

/** What is written in this conversation, as the browser keeps it until it is sent. */
export function useWritten(chat: string) {
  const key = `svc-chat-text:${chat}`
  const written = useSignal(stored(key, nothing))
  const write: Write = (change) => {
    written.value = { ...written.value, ...change }
    store(key, written.value)
  }
  return { written, write }
}

interface ComposerProps extends ReturnType<typeof useWritten> {
  chat: string
  known: Known
  stop: (() => unknown) | undefined
}

export function Composer({ chat, known, written, write, stop }: ComposerProps) {
  /** Which completion; below 0: none is wanted. */
  const chosen = useSignal(0)
  const box = useRef<HTMLTextAreaElement>(null)
  const { text, files, to } = written.value
  const offers = completionsOf(text, known.commands)
  const offer = offers[chosen.value]
  const complete = (words: string) => {
    write({ text: words })
    chosen.value = 0
  }
  useEffect(() => {
    if (to || hasKeys()) box.current?.focus()
  }, [to])
  const submit = () => {
    if (text.trim() === "" && files.length === 0) return
    void say({ id: crypto.randomUUID(), chat, text, files, ...(to && { replyTo: to.ref }) })
    write(nothing)
  }
  /** Whether it was for something here. A thumb has a button to send, and needs the key for new lines. */
  const press = (key: string, isShifted: boolean): boolean => {
    if (offer && (key === "ArrowDown" || key === "ArrowUp"))
      chosen.value = (chosen.value + (key === "ArrowDown" ? 1 : offers.length - 1)) % offers.length
    else if (offer && key === "Escape") chosen.value = -1
    else if (offer && (key === "Tab" || (key === "Enter" && offer.words.trim() !== text.trim()))) complete(offer.words)
    else if (key === "Enter" && !isShifted && hasKeys()) submit()
    else return false
    return true
  }
  const handle = (event: Event, isHandled = true) => {
    if (!isHandled) return
    event.preventDefault()
    event.stopPropagation()
  }
  const add = (event: Event, list: FileList | null | undefined) => {
    if (!list?.length) return
    handle(event)
    void upload([...list], known.maxFileBytes, (file) => write({ files: [...written.value.files, file] }))
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => handle(event, (submit(), true))}
      onDragOver={handle}
      onDrop={(event) => add(event, event.dataTransfer?.files)}
    >
      {offer && <Completions offers={offers} chosen={offer} complete={complete} />}
      <Attached {...written.value} write={write} />
      <div>
        <Picker add={add} />
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label="Message"
          placeholder="Write to the agent"
          aria-autocomplete="list"
          aria-controls={offer && "completions"}
          aria-activedescendant={offer && `completion${chosen.value}`}
          onInput={(event) => complete(event.currentTarget.value)}
          onKeyDown={(event) => !event.isComposing && handle(event, press(event.key, event.shiftKey))}
          onPaste={(event) => add(event, event.clipboardData?.files)}
        />
        {stop && <Button act={stop} icon="stop" kind="danger" label="Stop" children={null} />}
        <button type="submit" class="main" aria-label="Send">
          <Icon name="messages" />
        </button>
      </div>
    </form>
  )
}

function Picker({ add }: { add: (event: Event, list: FileList | null) => void }) {
  return (
    <label class="button">
      <Icon name="file" />
      <input type="file" multiple aria-label="Add files" onChange={(event) => add(event, event.currentTarget.files)} />
    </label>
  )
}

function Attached({ files, to, write }: Written & { write: Write }) {
  const chip = (key: string, words: string, remove: () => void) => (
    <p key={key} class="chip">
      <span class="cut">{words}</span>
      <Button act={remove} icon="close" label={`Remove ${words}`} children={null} />
    </p>
  )
  return (
    <>
      {to && chip("", `To: ${to.text}`, () => write({ to: undefined }))}
      {files.map(({ id, name }) => chip(id, name, () => write({ files: files.filter((each) => each.id !== id) })))}
    </>
  )
}

async function upload(list: readonly File[], most: number, done: (file: Written["files"][number]) => void) {
  for (const file of list) {
    try {
      if (file.size > most) throw new Error(`${file.name} is larger than ${Math.floor(most / 1_048_576)} MB`)
      const headers = { "content-type": file.type || "application/octet-stream" }
      const answer = await send("/api/chat/files", { method: "POST", body: file, headers })
      done({ id: ((await answer.json()) as { id: string }).id, name: file.name })
    } catch (error) {
      toast(wordsOf(error), "bad")
    }
  }
}

type Offer = Known["commands"][number]

interface CompletionsProps {
  offers: readonly Offer[]
  chosen: Offer
  complete: (words: string) => void
}

function Completions({ offers, chosen, complete }: CompletionsProps) {
  return (
    <ul role="listbox" id="completions" aria-label="Commands">
      {offers.map((offer, index) => (
        <li
          key={offer.words}
          id={`completion${index}`}
          role="option"
          aria-selected={offer === chosen}
          onPointerDown={(event) => {
            event.preventDefault()
            complete(offer.words)
          }}
        >
          <strong>{offer.words}</strong> <span class="dim">{offer.summary}</span>
        </li>
      ))}
    </ul>
  )
}

/** Commands that begin like this, and behind a whole one what may follow it. */
function completionsOf(text: string, commands: readonly Offer[]): Offer[] {
  const typed = text.toLowerCase()
  const isNext = ({ words }: Offer) => words.startsWith(typed) && !words.slice(typed.length).trimEnd().includes(" ")
  return typed.startsWith("/") ? commands.filter((offer) => isNext(offer) && offer.words !== typed) : []
}
