// One conversation: its messages, what is being written, what is on its way, and the place to write.
import { useMemo } from "../../ui/hooks.ts"
import { type Reply, stopRun } from "../../api.ts"
import { Markdown } from "../../ui/markdown.tsx"
import { Empty } from "../../ui/parts.tsx"
import { Transcript } from "../../ui/transcript.tsx"
import { Composer } from "./composer.tsx"
import { type Message, pageSize, useLive } from "./live.ts"
import { Failed, Said, Waiting } from "./said.tsx"
import { unsent } from "./unsent.ts"
import { writingOf } from "./writing.ts"

export function Talk({ chat, known }: { chat: string; known: Reply<"GET /api/chat"> }) {
  const live = useLive(chat)
  const writing = useMemo(() => writingOf(chat), [])
  const open = live.drafts.current.filter(({ isOver }) => !isOver)
  const mine = Object.values(unsent.current).filter((each) => each.chat === chat)
  const stop = () => Promise.allSettled(open.map(({ runId }) => stopRun(runId)))
  return (
    <section class="talk" aria-label="Conversation">
      <Transcript<Message>
        label="Messages"
        page={pageSize}
        load={live.load}
        topic="chat"
        accepts={live.accepts}
        follow={mine.at(-1)?.id}
        empty={
          mine.length === 0 && (
            <Empty title="Nothing was said here yet">
              Write below. Commands begin with / and files can be dropped or pasted.
            </Empty>
          )
        }
        tail={
          <>
            {mine.map((item) => (
              <Waiting key={item.id} item={item} write={writing.write} />
            ))}
            {live.failed.current.map((item) => (
              <Failed key={item.delivery} item={item} done={live.reload} />
            ))}
            {live.drafts.current.map(({ runId, text, thinking }) => (
              <article key={runId} class="out" aria-busy="true">
                {thinking && <p class="dim words">{thinking}</p>}
                <Markdown text={text} />
              </article>
            ))}
            {open.length > 0 && <p class="dim">Working…</p>}
          </>
        }
      >
        {(message) => <Said message={message} write={writing.write} />}
      </Transcript>
      <p class="heard" role="status">
        {live.heard.current}
      </p>
      <Composer known={known} {...writing} stop={open.length > 0 ? stop : undefined} />
    </section>
  )
}
