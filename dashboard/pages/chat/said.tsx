// One message of a conversation; and what is none yet: one that is on its way, one that did not arrive.
import { call } from "../../api.ts"
import { once } from "../../once.ts"
import { link } from "../../router.ts"
import { download } from "../../ui/download.ts"
import { Markdown } from "../../ui/markdown.tsx"
import { Badge, Button, Copy, More } from "../../ui/parts.tsx"
import { Picture } from "../../ui/picture.tsx"
import { Time } from "../../ui/time.tsx"
import type { History, Message } from "./live.ts"
import { type Saying, forget, say } from "./unsent.ts"
import type { Write } from "./writing.ts"

export function Said({ message, write }: { message: Message; write: Write }) {
  const { id, ref, side, text, thinking, files, buttons, reaction, replyTo, createdAt, editedAt, runId } = message
  return (
    <div class={side}>
      <header>
        <strong>{side === "in" ? "You" : "Agent"}</strong>
        <Button act={() => write({ to: { ref, text } })}>Reply</Button>
        <Copy text={text} what="the message" />
        {runId !== null && <a href={link("runs", runId)}>Run</a>}
        {reaction}
        {editedAt !== null && <small class="dim">edited</small>}
        <Time at={createdAt} />
      </header>
      {replyTo !== null && <small class="dim">Answers an earlier message</small>}
      {thinking !== null && (
        <More title="Thinking">
          <p class="dim words">{thinking}</p>
        </More>
      )}
      {side === "in" ? <p class="words">{text}</p> : <Markdown text={text} />}
      {files.map(({ name, isPicture, bytes, problem }, n) => {
        const address = `/api/chat/messages/${id}/files/${n}`
        if (problem !== undefined) return <p class="wrong">{problem}</p>
        return (
          <div key={n}>
            {isPicture && <Picture address={address} alt={name} />}
            <Button act={() => download(address, name)} icon="file">
              {name} <small class="dim">{Math.ceil(bytes / 1024)} KB</small>
            </Button>
          </div>
        )
      })}
      {buttons.map((row, at) => (
        <div key={at} class="buttons">
          {row.map(({ text: label, style }, column) => (
            <Button
              key={column}
              act={() => press(message, at, column)}
              kind={style === "danger" ? style : style ? "main" : "plain"}
            >
              {label}
            </Button>
          ))}
        </div>
      ))}
    </div>
  )
}

export const press = ({ chat, ref: message }: Message, row: number, column: number) =>
  once(`press ${message} ${row} ${column}`, (id) =>
    call("POST /api/chat/clicks", { body: { id, chat, message, row, column } }),
  )

/** One that is on its way. */
export function Waiting({ item, write }: { item: Saying; write: Write }) {
  const { id, text, files, problem } = item
  const undo = () => {
    write({ text, files })
    forget(id)
  }
  return (
    <Trouble
      side="in"
      text={text || files.map(({ name }) => name).join()}
      state={problem ? "failed" : "sending"}
      problem={problem}
      acts={problem ? { "Send again": () => say(item), "Take back": undo } : {}}
    />
  )
}

export function Failed({ item, done }: { item: History["unsent"][number]; done: () => void }) {
  const act = (verb: "retry" | "dismiss") => async () => {
    await call(`POST /api/deliveries/:id/${verb}`, { params: { id: item.delivery } })
    done()
  }
  return (
    <Trouble
      side="out"
      text={item.text}
      state={item.state}
      problem={item.error}
      acts={{ "Send again": act("retry"), Dismiss: act("dismiss") }}
    />
  )
}

function Trouble({ side, text, state, problem, acts }: TroubleProps) {
  return (
    <article>
      <div class={side}>
        <header>
          <Badge state={state} />
          {problem && <span role="alert">{problem}</span>}
          {Object.entries(acts).map(([words, act]) => (
            <Button key={words} act={act}>
              {words}
            </Button>
          ))}
        </header>
        <p class="words">{text}</p>
      </div>
    </article>
  )
}

interface TroubleProps extends Pick<Message, "side" | "text"> {
  state: string
  problem: string | null | undefined
  acts: Record<string, () => unknown>
}
