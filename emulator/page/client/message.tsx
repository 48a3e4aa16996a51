// One message: who wrote it, what it answers, its content, buttons and reactions, and what can be done with it.
import type { InlineKeyboardButton, Message } from "grammy/types"
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { addressOf, call } from "./api.ts"
import { type Conversation, nameOf } from "./conversation.ts"
import { arrowBack, bin, pencil, smile } from "./icons.tsx"
import { Formatted, Link, Rich } from "./formatted.tsx"

interface Part {
  conversation: Conversation
  message: Message
}

type FileHolder = { file_id: string; file_name?: string }

function useAddress(fileId: string): string | undefined | null {
  const [address, setAddress] = useState<string | undefined | null>(undefined)
  useEffect(() => {
    let isShown = true
    const show = (value: string | null) => {
      if (isShown) setAddress(value)
    }
    addressOf(fileId).then(show, () => show(null))
    return () => {
      isShown = false
    }
  }, [fileId])
  return address
}

function Picture({ fileId, alt }: { fileId: string; alt: string }) {
  const address = useAddress(fileId)
  if (address === null) return <span class="gone">{alt} (gone)</span>
  return (
    <a href={address ?? "#"} target="_blank" rel="noopener noreferrer">
      <img src={address} alt={alt} />
    </a>
  )
}

function Player({ fileId, kind }: { fileId: string; kind: "audio" | "video" }) {
  const address = useAddress(fileId)
  if (address === null) return <span class="gone">{kind} (gone)</span>
  const Tag = kind
  return <Tag controls src={address} aria-label={kind} />
}

function FileLink({ file, kind }: { file: FileHolder; kind: string }) {
  const address = useAddress(file.file_id)
  const name = file.file_name ?? kind
  if (address === null) return <span class="gone">{name} (gone)</span>
  return (
    <a class="file" href={address ?? "#"} download={name}>
      ▤ {name}
    </a>
  )
}

const fileKinds = ["document", "audio", "voice", "video", "animation", "video_note", "sticker"] as const

function Media({ message }: { message: Message }) {
  const photo = message.photo?.at(-1)
  if (photo) return <Picture fileId={photo.file_id} alt="photo" />
  const kind = fileKinds.find((name) => message[name])
  if (!kind) return null
  const file = message[kind] as FileHolder
  const { sticker } = message
  if (sticker && !sticker.is_animated && !sticker.is_video) return <Picture fileId={sticker.file_id} alt="sticker" />
  const isVideo = kind === "video" || kind === "animation" || kind === "video_note"
  return (
    <>
      {kind === "voice" || kind === "audio" ? <Player fileId={file.file_id} kind="audio" /> : null}
      {isVideo ? <Player fileId={file.file_id} kind="video" /> : null}
      {kind === "voice" || isVideo ? null : <FileLink file={file} kind={kind} />}
    </>
  )
}

function Words({ message }: { message: Message }) {
  const text = message.text ?? message.caption
  const entities = message.entities ?? message.caption_entities ?? []
  return (
    <>
      {text === undefined ? null : (
        <div class="body">
          <Formatted text={text} entities={entities} />
        </div>
      )}
      {message.rich_message ? <Rich content={message.rich_message} /> : null}
    </>
  )
}

function Key({ conversation, message, button }: Part & { button: InlineKeyboardButton }) {
  if ("url" in button) return <Link address={button.url}>{button.text} ↗</Link>
  const style = "style" in button && typeof button.style === "string" ? button.style : ""
  const press = () =>
    conversation.attempt(async () => {
      if (!("callback_data" in button)) throw new Error("This button does nothing here")
      await conversation.click(message, button.callback_data)
    })
  return (
    <button type="button" class={style} onClick={press}>
      {button.text}
    </button>
  )
}

function Keyboard({ conversation, message }: Part) {
  const rows = message.reply_markup?.inline_keyboard
  if (!rows) return null
  return (
    <div class="keys">
      {rows.map((row) => (
        <div>
          {row.map((button) => (
            <Key conversation={conversation} message={message} button={button} />
          ))}
        </div>
      ))}
    </div>
  )
}

const emojiChoice = ["👍", "❤", "🔥", "😁", "🤔", "👎"]

function Reactions({ conversation, message, close }: Part & { close: () => void }) {
  const userId = conversation.place?.me.id ?? 0
  const mine = conversation.reactions[message.message_id]?.[userId] ?? []
  const choose = (emoji: string) =>
    conversation.attempt(async () => {
      const wanted = mine.includes(emoji) ? [] : [emoji]
      await call("react", { ...conversation.where, userId, messageId: message.message_id, emoji: wanted })
      close()
    })
  return (
    <span class="picker">
      {emojiChoice.map((emoji) => (
        <button type="button" aria-pressed={mine.includes(emoji)} onClick={() => choose(emoji)}>
          {emoji}
        </button>
      ))}
    </span>
  )
}

function Meta({ conversation, message }: Part) {
  const [isPicking, pick] = useState(false)
  const { me, chatId } = conversation.place ?? {}
  const isMine = message.from?.id === me?.id
  const date = new Date(message.date * 1000)
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
  const set = Object.values(conversation.reactions[message.message_id] ?? {}).flat()
  const remove = () =>
    conversation.attempt(() =>
      call("deleteMessages", { ...conversation.where, userId: me?.id ?? 0, messageIds: [message.message_id] }),
    )
  const answer = () => conversation.update(() => Object.assign(conversation, { replyTo: message, editing: undefined }))
  const edit = () => conversation.update(() => Object.assign(conversation, { editing: message, replyTo: undefined }))
  if (isPicking) return <Reactions conversation={conversation} message={message} close={() => pick(false)} />
  return (
    <div class="meta">
      <span class="emoji">{set.join(" ")}</span>
      <Act label="React" icon={smile} act={() => pick(true)} />
      <Act label="Reply" icon={arrowBack} act={answer} />
      {isMine && message.text !== undefined ? <Act label="Edit" icon={pencil} act={edit} /> : null}
      {isMine || chatId === me?.id ? <Act label="Delete" icon={bin} act={remove} /> : null}
      <time dateTime={date.toISOString()} title={date.toLocaleString()}>
        {message.edit_date ? `edited ${time}` : time}
      </time>
    </div>
  )
}

function Act({ label, icon, act }: { label: string; icon: VNode; act: () => void }) {
  return (
    <button type="button" aria-label={label} title={label} onClick={act}>
      {icon}
    </button>
  )
}

const services: [RegExp, (message: Message) => string][] = [
  [/^new_chat_members$/, ({ new_chat_members: all = [] }) => `${all.map(nameOf).join(", ")} joined`],
  [/^left_chat_member$/, ({ left_chat_member: one }) => `${one ? nameOf(one) : "Somebody"} left`],
  [/^forum_topic_created$/, ({ forum_topic_created: topic }) => `Topic “${topic?.name ?? ""}” was made`],
  [/_(?:created|closed|reopened|hidden|unhidden|edited)$/, (message) => serviceName(message).replaceAll("_", " ")],
  [
    /^(?:pinned_message|migrate_|message_auto_delete|video_chat)/,
    (message) => serviceName(message).replaceAll("_", " "),
  ],
]

function serviceName(message: Message): string {
  return Object.keys(message).find((key) => services.some(([pattern]) => pattern.test(key))) ?? ""
}

/** What is told of a message that nobody wrote. */
export function serviceWords(message: Message): string | undefined {
  const name = serviceName(message)
  return services.find(([pattern]) => pattern.test(name))?.[1](message)
}

function Quote({ quoted }: { quoted: Message }) {
  if (quoted.forum_topic_created) return null
  return <div class="quote">{quoted.text ?? quoted.caption ?? "a message without text"}</div>
}

export function MessageBox({ conversation, message }: Part) {
  const service = serviceWords(message)
  if (service !== undefined) return <div class="message service">{service}</div>
  const isMine = message.from?.id === conversation.place?.me.id
  const isGroup = conversation.chat !== undefined
  const author = message.from ? nameOf(message.from) : (conversation.chat?.title ?? "")
  return (
    <article class={isMine ? "message mine" : "message"} aria-label={author} id={`message-${message.message_id}`}>
      {isGroup && !isMine ? <div class="author">{author}</div> : null}
      {message.reply_to_message ? <Quote quoted={message.reply_to_message as Message} /> : null}
      <Media message={message} />
      <Words message={message} />
      <Keyboard conversation={conversation} message={message} />
      <Meta conversation={conversation} message={message} />
    </article>
  )
}
