// Runs: what the agent was asked to do, and the story of one.
import { type Reply, call } from "../api.ts"
import { inQuery, link, oneInQuery, place } from "../router.ts"
import { Field, Select } from "../ui/form.tsx"
import { Badge } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time, duration } from "../ui/time.tsx"
import { pageFrom } from "../ui/list.ts"
import { useList } from "../ui/use-list.ts"
import { Run } from "./run.tsx"

type Summary = Reply<"GET /api/runs">["items"][number]

const states = ["ready", "running", "done", "dead", "cancelled"] as const

const timeOf = (text: string | undefined) => (text === undefined ? text : Date.parse(text))

export default function Runs() {
  const [, runId] = place.current.path
  return runId === undefined ? <List /> : <Run key={runId} runId={runId} />
}

function List() {
  const { query } = place.current
  const wanted = Object.fromEntries(query)
  const filter = {
    state: oneInQuery("state", states),
    kind: wanted.kind,
    session: wanted.session,
    text: wanted.text,
    since: timeOf(wanted.since),
    until: timeOf(wanted.until),
  }
  const list = useList<Summary>(String(query), {
    load: (before) => call("GET /api/runs", { query: { ...filter, ...pageFrom(before) } }),
    topic: "run",
    accepts: (run) =>
      (filter.state === undefined || run.state === filter.state) &&
      (filter.kind === undefined || run.kind === filter.kind) &&
      (filter.session === undefined || run.session === filter.session) &&
      // Words are looked for by the gateway alone, which has all of a run.
      filter.text === undefined &&
      !(run.createdAt > (filter.until ?? Infinity)) &&
      !(run.createdAt < (filter.since ?? 0)),
  })
  return (
    <>
      <div class="filters" role="search">
        <Field label="Words" type="search" of={inQuery("text")} />
        <Select label="State" of={inQuery("state")} options={[["", "all"], ...states]} />
        <Select label="Kind" of={inQuery("kind")} options={[["", "all"], "turn", "heartbeat", "command", "compact"]} />
        <Field label="Session" of={inQuery("session")} />
        <Field label="From" type="datetime-local" of={inQuery("since")} />
        <Field label="To" type="datetime-local" of={inQuery("until")} />
      </div>
      <Rows
        list={list}
        label="Runs"
        empty={["No runs", "What the agent is asked to do stands here: a message in a chat, a webhook, a heartbeat."]}
      >
        {(run) => (
          <>
            <a href={link("runs", run.runId)}>
              <strong class="cut">{(run.kind !== "heartbeat" && run.asked) || run.kind}</strong>
              <span class="cut dim">
                {run.kind} · {run.session}
                {" · "}
                {run.error ?? textOf(run.result)}
              </span>
            </a>
            {run.startedAt !== null && run.finishedAt !== null && (
              <span class="dim wide">{duration(run.finishedAt - run.startedAt)}</span>
            )}
            <Badge state={run.state} />
            <Time at={run.createdAt} />
          </>
        )}
      </Rows>
    </>
  )
}

/** A result is a JSON text of which the beginning is known. */
function textOf(result: string | null): string {
  const [, text = result ?? ""] = /^\{"\w+":"((?:[^"\\]|\\.)*)/.exec(result ?? "") ?? []
  return text.replace(/\\n/g, " ").replace(/\\"/g, '"')
}
