// Logs: the last lines, then what comes, by level and by words such as the id of a run.
import { useSignal } from "../ui/signals.ts"
import { useEffect, useRef } from "../ui/hooks.ts"
import { type Reply, call } from "../api.ts"
import { inQuery, oneInQuery, place } from "../router.ts"
import { Check, Field, Select } from "../ui/form.tsx"
import { Badge, Empty, Failure, type Tone } from "../ui/parts.tsx"
import { exact } from "../ui/time.tsx"

type Line = Reply<"GET /api/logs">["lines"][number] & { id: number }

const levels = ["debug", "info", "warn", "error"] as const
const tones: Record<string, Tone> = { warn: "warn", error: "bad", fatal: "bad" }
const everyMs = 1_000
/** Older ones leave the page: the file has them. */
const mostLines = 2_000

export default function Logs() {
  const { query } = place.current
  const level = oneInQuery("level", levels)
  const text = query.get("text") ?? ""
  const lines = useSignal<Line[] | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const follows = useSignal(true)
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let isOver = false
    let timer = 0
    let cursor: string | undefined
    let count = 0
    const look = async () => {
      try {
        if (cursor === undefined || (follows.current && !document.hidden)) {
          const page = await call("GET /api/logs", { query: { level, text, after: cursor } })
          if (isOver) return
          cursor = page.cursor
          const fresh = page.lines.map((line) => ({ ...line, id: (count += 1) }))
          if (fresh.length > 0 || lines.current === undefined)
            lines.current = [...(count === fresh.length ? [] : (lines.current ?? [])), ...fresh].slice(-mostLines)
        }
        error.current = undefined
      } catch (thrown) {
        error.current = thrown
      }
      if (!isOver) timer = setTimeout(look, everyMs)
    }
    lines.current = undefined
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [level, text])
  useEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: "end" })
  }, [lines.current])
  return (
    <>
      <div class="filters" role="search">
        <Field label="Words, or the id of a run" type="search" of={inQuery("text")} />
        <Select
          label="Level"
          of={inQuery("level")}
          options={[["", "all"], ...levels.map((one) => [one, `${one} and above`] as const)]}
        />
        <Check label="Follow" of={follows} />
      </div>
      {error.current !== undefined && <Failure error={error.current} />}
      {lines.current?.length === 0 && <Empty title="No such lines">Take another level, or fewer words.</Empty>}
      <ol class="log" aria-label="Lines of the log">
        {lines.current?.map((line) => (
          <LogLine key={line.id} line={line} />
        ))}
      </ol>
      <div ref={end} />
    </>
  )
}

function LogLine({ line }: { line: Line }) {
  const { id: _id, level, time, msg, part, ...rest } = line
  const fields = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  )
  return (
    <li>
      <time dateTime={new Date(time).toISOString()}>{exact(Number(new Date(time))).slice(11)}</time>
      <Badge state={level} tone={tones[level] ?? "quiet"} />
      <span>
        {part !== undefined && <strong>{part} </strong>}
        {msg} <span class="dim">{fields.join(" ")}</span>
      </span>
    </li>
  )
}
