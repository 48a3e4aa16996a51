// Where words are written: kept while they are, with completion of commands and files beside them.
import { useSignal } from "../../ui/signals.ts"
import { useEffect, useRef } from "../../ui/hooks.ts"
import type { Reply } from "../../api.ts"
import { Icon } from "../../ui/icons.tsx"
import { Button } from "../../ui/parts.tsx"
import type { Write, Writing, Written } from "./writing.ts"

type Known = Reply<"GET /api/chat">

const hasKeys = () => matchMedia("(pointer: fine)").matches

interface ComposerProps extends Writing {
  known: Known
  stop: (() => unknown) | undefined
}

export function Composer({ known, written, coming, write, add, submit, stop }: ComposerProps) {
  /** Which completion; below 0: none is wanted. */
  const chosen = useSignal(0)
  const box = useRef<HTMLTextAreaElement>(null)
  const { text, to } = written.current
  const offers = completionsOf(text, known.commands)
  const offer = offers[chosen.current]
  const complete = (words: string) => {
    write({ text: words })
    chosen.current = 0
  }
  useEffect(() => {
    if (to || hasKeys()) box.current?.focus()
  }, [to])
  /** Whether it was for something here. A thumb has a button to send, and needs the key for new lines. */
  const press = (key: string, isShifted: boolean): boolean => {
    if (offer && (key === "ArrowDown" || key === "ArrowUp"))
      chosen.current = (chosen.current + (key === "ArrowDown" ? 1 : offers.length - 1)) % offers.length
    else if (offer && key === "Escape") chosen.current = -1
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
  const take = (event: Event, list: FileList | null | undefined) => {
    if (!list?.length) return
    handle(event)
    void add([...list], known.maxFileBytes)
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => handle(event, (submit(), true))}
      onDragOver={handle}
      onDrop={(event) => take(event, event.dataTransfer?.files)}
    >
      {offer && <Completions offers={offers} chosen={offer} complete={complete} />}
      <Attached {...written.current} coming={coming.current} write={write} />
      <div>
        <Picker add={take} />
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label="Message"
          placeholder="Write to the agent"
          aria-autocomplete="list"
          aria-controls={offer && "completions"}
          aria-activedescendant={offer && `completion${chosen.current}`}
          onInput={(event) => complete(event.currentTarget.value)}
          onKeyDown={(event) => !event.isComposing && handle(event, press(event.key, event.shiftKey))}
          onPaste={(event) => take(event, event.clipboardData?.files)}
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

function Attached({ files, to, coming, write }: Written & { coming: readonly File[]; write: Write }) {
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
      {coming.map(({ name }, index) => (
        <p key={index} class="chip dim" aria-busy="true">
          <span class="cut">{name}…</span>
        </p>
      ))}
    </>
  )
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
