// Where a person writes: text, files of any kind, a voice message, commands from the menu; as a reply or as an edit.
import type { Message } from "grammy/types"
import type { RefObject } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Requests } from "../../control/requests.ts"
import { base64Of, call } from "./api.ts"
import type { Conversation } from "./conversation.ts"
import { clip, microphone, plane, square } from "./icons.tsx"
import { startRecording, type Recording } from "./recording.ts"

type Kind = Requests["sendMedia"]["kind"]
const kinds: Kind[] = ["document", "photo", "audio", "voice", "video", "video_note", "animation", "sticker"]

interface Attachment {
  file: File
  kind: Kind
}

/** As the platform's own programs send a file when nothing else is chosen. */
function kindOf({ type, name }: File): Kind {
  if (type === "image/gif") return "animation"
  if (type === "image/jpeg" || type === "image/png" || type === "image/webp") return "photo"
  if (type === "audio/ogg" || /\.(?:ogg|oga|opus)$/i.test(name)) return "voice"
  if (type.startsWith("audio/")) return "audio"
  return type.startsWith("video/") ? "video" : "document"
}

/** What was typed and not sent, by chat; a reload does not lose it. */
const unsent = {
  key: ({ where, place }: Conversation) => `unsent ${where.botId} ${where.chatId} ${place?.me.id}`,
  read: (conversation: Conversation) => sessionStorage.getItem(unsent.key(conversation)) ?? "",
  keep: (conversation: Conversation, text: string) => sessionStorage.setItem(unsent.key(conversation), text),
}

export function Composer({ conversation }: { conversation: Conversation }) {
  const { place, editing } = conversation
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState("")
  const [files, setFiles] = useState<Attachment[]>([])
  const [isSending, setSending] = useState(false)
  useLayoutEffect(() => {
    if (place) setText(unsent.read(conversation))
    setFiles([])
  }, [place?.bot.id, place?.me.id, place?.chatId])
  useLayoutEffect(() => {
    setText(editing ? (editing.text ?? "") : unsent.read(conversation))
  }, [editing])
  useLayoutEffect(() => {
    if (editing || conversation.replyTo) field.current?.focus()
  }, [editing, conversation.replyTo])
  const loadMenu = () => void conversation.attempt(() => conversation.loadMenu())
  const write = (value: string) => {
    setText(value)
    if (value === "/") loadMenu()
    if (!editing) unsent.keep(conversation, value)
  }
  const add = (all: Iterable<File>) => setFiles([...files, ...[...all].map((file) => ({ file, kind: kindOf(file) }))])
  const submit = async () => {
    if (isSending || (text.trim() === "" && files.length === 0)) return
    setSending(true)
    const isSent = await conversation.attempt(() => send(conversation, text.trim(), files))
    setSending(false)
    field.current?.focus()
    if (!isSent) return
    setFiles([])
    write("")
    cancel(conversation)
  }
  return (
    <form
      id="compose"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        add(event.dataTransfer?.files ?? [])
      }}
    >
      <About conversation={conversation} />
      <Attachments files={files} set={setFiles} />
      <Commands
        conversation={conversation}
        typed={text}
        take={(command) => {
          write(`/${command} `)
          field.current?.focus()
        }}
      />
      <div class="row">
        <FileButton add={add} />
        <Field
          field={field}
          text={text}
          write={write}
          add={add}
          submit={submit}
          focused={loadMenu}
          leave={() => cancel(conversation)}
        />
        <VoiceButton conversation={conversation} />
        <button type="submit" aria-label={editing ? "Save" : "Send"} disabled={isSending}>
          {plane}
        </button>
      </div>
    </form>
  )
}

interface FieldProps {
  field: RefObject<HTMLTextAreaElement | null>
  text: string
  write: (text: string) => void
  add: (files: Iterable<File>) => void
  submit: () => Promise<void>
  focused: () => void
  leave: () => void
}

/** Enter sends, with Shift it makes a line, Escape leaves a reply or an edit; as high as what is in it. */
function Field({ field, text, write, add, submit, focused, leave }: FieldProps) {
  useLayoutEffect(() => {
    const { current } = field
    if (!current) return
    current.style.height = "auto"
    current.style.height = `${current.scrollHeight + 2}px`
  }, [text])
  return (
    <textarea
      id="text"
      ref={field}
      rows={1}
      value={text}
      placeholder="Message"
      aria-label="Message"
      onInput={(event) => write(event.currentTarget.value)}
      onFocus={focused}
      onPaste={(event) => add(event.clipboardData?.files ?? [])}
      onKeyDown={(event) => {
        if (event.key === "Escape") leave()
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
        event.preventDefault()
        void submit()
      }}
    />
  )
}

async function send(conversation: Conversation, text: string, files: readonly Attachment[]): Promise<void> {
  const { place, editing, replyTo, where } = conversation
  const userId = place?.me.id ?? 0
  if (editing) {
    await call("editText", { ...where, userId, messageId: editing.message_id, text })
    return
  }
  const to = { ...where, userId, ...answering(replyTo), ...(place?.topic ? { threadId: place.topic } : {}) }
  if (files.length === 0) {
    await call("sendText", { ...to, text })
    return
  }
  const album = files.length > 1 ? { albumId: String(Date.now()) } : {}
  for (const [index, { file, kind }] of files.entries()) {
    const caption = index === 0 && text !== "" ? { caption: text } : {}
    const mimeType = file.type === "" ? {} : { mimeType: file.type }
    await call("sendMedia", {
      ...to,
      kind,
      data: await base64Of(file),
      name: file.name,
      ...mimeType,
      ...caption,
      ...album,
    })
  }
}

function answering(message: Message | undefined): { replyTo?: number; threadId?: number } {
  if (!message) return {}
  const { message_id: replyTo, message_thread_id: threadId } = message
  return { replyTo, ...(threadId !== undefined && message.is_topic_message ? { threadId } : {}) }
}

/** Neither a reply nor an edit any more. */
const cancel = (conversation: Conversation) =>
  conversation.update(() => Object.assign(conversation, { replyTo: undefined, editing: undefined }))

function About({ conversation }: { conversation: Conversation }) {
  const { replyTo, editing } = conversation
  const about = editing ?? replyTo
  if (!about) return null
  return (
    <div class="about">
      <strong>{editing ? "Edit" : "Reply to"}</strong> <span>{about.text ?? about.caption ?? "a message"}</span>
      <button type="button" aria-label="Cancel" onClick={() => cancel(conversation)}>
        ✕
      </button>
    </div>
  )
}

function Attachments({ files, set }: { files: Attachment[]; set: (files: Attachment[]) => void }) {
  if (files.length === 0) return null
  return (
    <ul class="attachments">
      {files.map(({ file, kind }, index) => (
        <li>
          <span>{file.name}</span>
          <select
            aria-label={`Send ${file.name} as`}
            value={kind}
            onChange={(event) => set(files.with(index, { file, kind: event.currentTarget.value as Kind }))}
          >
            {kinds.map((one) => (
              <option value={one}>{one.replace("_", " ")}</option>
            ))}
          </select>
          <button type="button" aria-label={`Leave ${file.name} out`} onClick={() => set(files.toSpliced(index, 1))}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  )
}

function Commands(props: { conversation: Conversation; typed: string; take: (command: string) => void }) {
  const { conversation, typed, take } = props
  const begun = /^\/(\w*)$/.exec(typed)?.[1]
  const offered = begun === undefined ? [] : conversation.menu.filter(({ command }) => command.startsWith(begun))
  if (offered.length === 0) return null
  return (
    <ul class="commands" aria-label="Commands">
      {offered.map(({ command, description }) => (
        <li>
          <button type="button" onClick={() => take(command)}>
            <strong>/{command}</strong> {description}
          </button>
        </li>
      ))}
    </ul>
  )
}

function FileButton({ add }: { add: (files: Iterable<File>) => void }) {
  return (
    <label class="attach" title="Attach files">
      <input
        type="file"
        multiple
        aria-label="Attach files"
        onChange={(event) => {
          add(event.currentTarget.files ?? [])
          event.currentTarget.value = ""
        }}
      />
      {clip}
    </label>
  )
}

function VoiceButton({ conversation }: { conversation: Conversation }) {
  const [recording, setRecording] = useState<Recording>()
  const begin = () => conversation.attempt(async () => setRecording(await startRecording()))
  const finish = () =>
    conversation.attempt(async () => {
      setRecording(undefined)
      const taken = await recording?.finish()
      if (!taken) return
      const { place, where } = conversation
      const { file, seconds } = taken
      const details = { name: file.name, mimeType: file.type, duration: seconds }
      const topic = place?.topic ? { threadId: place.topic } : {}
      const data = await base64Of(file)
      await call("sendMedia", { ...where, ...topic, userId: place?.me.id ?? 0, kind: "voice", data, ...details })
    })
  return recording ? (
    <button type="button" class="recording" aria-label="Send the voice message" onClick={finish}>
      {square}
    </button>
  ) : (
    <button type="button" aria-label="Record a voice message" onClick={begin}>
      {microphone}
    </button>
  )
}
