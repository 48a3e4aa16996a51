// The messages of a chat with their days, drafts below the newest, and older ones as they are scrolled to.
import type { Message } from "grammy/types"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { Draft } from "../../feed.ts"
import { call } from "./api.ts"
import type { Conversation } from "./conversation.ts"
import { Formatted, Rich } from "./formatted.tsx"
import { MessageBox } from "./message.tsx"

function DraftBox({ conversation, draft }: { conversation: Conversation; draft: Draft }) {
  const stop = () =>
    conversation.attempt(() =>
      call("stopDraft", {
        botId: conversation.where.botId,
        userId: conversation.where.chatId,
        draftId: draft.draftId,
        ...(draft.threadId === undefined ? {} : { threadId: draft.threadId }),
      }),
    )
  const rich = draft.richMessage as NonNullable<Message["rich_message"]> | undefined
  return (
    <article class="message draft" aria-busy="true" aria-label="Draft">
      {draft.canStop && !draft.stopped ? (
        <button type="button" class="stop" onClick={stop}>
          Stop
        </button>
      ) : null}
      {rich ? (
        <Rich content={rich} />
      ) : (
        <div class="body">
          <Formatted text={draft.text || "Thinking…"} entities={draft.entities} />
        </div>
      )}
    </article>
  )
}

function dayOf(message: Message): string {
  const day = { weekday: "long", day: "numeric", month: "long", year: "numeric" } as const
  return new Date(message.date * 1000).toLocaleDateString([], day)
}

/** So near to the end somebody reads along; so near to the beginning older messages are loaded. */
const nearPixels = 120

export function Log({ conversation }: { conversation: Conversation }) {
  const box = useRef<HTMLElement>(null)
  const seen = useRef({ atEnd: true, height: 0, first: 0, place: conversation.place })
  const messages = conversation.newest
  const first = messages[0]?.message_id ?? 0
  useLayoutEffect(() => {
    const { current } = box
    const before = seen.current
    if (!current) return
    const isNew = before.place !== conversation.place
    if (isNew || before.atEnd) current.scrollTop = current.scrollHeight
    else if (first < before.first) current.scrollTop += current.scrollHeight - before.height
    seen.current = {
      ...before,
      atEnd: isNew || before.atEnd,
      height: current.scrollHeight,
      first,
      place: conversation.place,
    }
  })
  /** For who reads along. */
  const toEnd = () => {
    const { current } = box
    if (!current || !seen.current.atEnd) return
    current.scrollTop = current.scrollHeight
    seen.current.height = current.scrollHeight
  }
  // Where one writes takes room from it: more lines, files, a keyboard on the screen.
  useEffect(() => {
    const sizes = new ResizeObserver(toEnd)
    sizes.observe(box.current as HTMLElement)
    return () => sizes.disconnect()
  }, [])
  const onScroll = () => {
    const { current } = box
    if (!current) return
    // What has grown by itself, as pictures do, has scrolled nobody away from the end.
    if (seen.current.atEnd && current.scrollHeight !== seen.current.height) toEnd()
    seen.current.atEnd = current.scrollHeight - current.scrollTop - current.clientHeight < nearPixels
    seen.current.height = current.scrollHeight
    if (current.scrollTop < nearPixels) void conversation.attempt(() => conversation.loadOlder())
  }
  const topic = conversation.place?.topic
  const drafts = conversation.drafts.filter(({ threadId }) => topic === undefined || threadId === topic)
  return (
    <main id="log" ref={box} aria-live="polite" onScroll={onScroll} onLoadCapture={toEnd} tabIndex={0}>
      {messages.length === 0 ? <p class="empty">Nothing was said here yet. Write the first message below.</p> : null}
      {messages.map((message, index) => {
        const before = messages[index - 1]
        const day = before && dayOf(before) === dayOf(message) ? null : <h2 class="day">{dayOf(message)}</h2>
        return [day, <MessageBox key={message.message_id} conversation={conversation} message={message} />]
      })}
      {drafts.map((draft) => (
        <DraftBox conversation={conversation} draft={draft} />
      ))}
    </main>
  )
}
