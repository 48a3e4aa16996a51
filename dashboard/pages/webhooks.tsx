// Webhooks: what was posted, whether it was proven, which mapping took it, what came of it; once more, or as a trial.
import { signal, useSignal } from "../ui/signals.ts"
import { useMemo } from "../ui/hooks.ts"
import { type Api, type Reply, call } from "../api.ts"
import { once } from "../once.ts"
import { go, inQuery, link, place } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Field } from "../ui/form.tsx"
import { Back, Badge, Button, Card, Code, Facts, Failure, Head, Json, Line, More } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time, duration, when } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"
import { pageFrom } from "../ui/list.ts"
import { useList } from "../ui/use-list.ts"

type Summary = Reply<"GET /api/hooks">["items"][number]
type Detail = Reply<"GET /api/hooks/:id">
type Tried = Api["POST /api/hooks/test"]["body"]

export default function Webhooks() {
  const [, id] = place.current.path
  if (id === "try")
    return (
      <>
        <Back to="webhooks" words="All deliveries" />
        <Trial path="agent" body={'{ "message": "Hello" }'} headers={{}} query={{}} />
      </>
    )
  return id === undefined ? <List /> : <Delivery key={id} id={Number(id)} />
}

function List() {
  const filter = inQuery("mapping")
  const mapping = filter.current
  const list = useList<Summary>(mapping, {
    load: (before) => call("GET /api/hooks", { query: { ...pageFrom(before), mapping } }),
    // Senders may post by the thousand.
    touchedBy: "hook",
  })
  return (
    <>
      <div class="filters">
        <Field label="Mapping" of={filter} />
        <a class="button" href={link("webhooks", "try")}>
          Try one
        </a>
      </div>
      <Rows
        list={list}
        label="Webhooks"
        empty={[
          "No deliveries",
          "What is posted below the webhooks' base path stands here. svc webhooks sets a sender up.",
        ]}
      >
        {(one) => (
          <>
            <Line
              to={link("webhooks", one.id)}
              title={one.mapping || "no mapping"}
              aside={`${one.method} ${one.path}`}
              more={one.error ?? `${one.bytes} bytes${one.times > 1 ? `, ${one.times} times` : ""}`}
            />
            <span class="dim wide">{one.status}</span>
            <Badge state={one.verdict} />
            <Time at={one.receivedAt} />
          </>
        )}
      </Rows>
    </>
  )
}

function Delivery({ id }: { id: number }) {
  const params = { id }
  const asked = useAsked(String(id), () => call("GET /api/hooks/:id", { params }), { topics: ["run", "delivery"] })
  const one = asked.known
  if (!one) return <Pending of={asked} />
  const replay = async () => {
    const { status } = await replayOf(id)
    toast(`Replayed: answered with ${status}`)
    go(link("webhooks"))
  }
  return (
    <>
      <Head back={["webhooks", "All deliveries"]} title={one.mapping || "No mapping"} state={one.verdict}>
        <Button act={replay} icon="again">
          Replay
        </Button>
      </Head>
      {one.error !== null && <Failure error={one.error} />}
      <Facts
        rows={[
          ["Request", `${one.method} ${one.path}`],
          ["Answered", one.status],
          ["Came", when(one.receivedAt)],
          ["Took", duration(one.tookMs)],
          ["Proof", one.address === null ? "secret or signature was right" : `none, from ${one.address}`],
          ["Replay of", one.replayOf !== null && <a href={link("webhooks", one.replayOf)}>{one.replayOf}</a>],
        ]}
      />
      <Results runs={one.runs} />
      <div class="cards">
        <Card title="Payload">
          <Code text={one.body} what="the payload" />
          <More title="Headers and query">
            <Json value={{ headers: one.headers, query: one.query }} what="the headers" />
          </More>
          <More title="Answer">
            <Json value={one.answer} what="the answer" />
          </More>
        </Card>
        <Trial path={one.path} body={one.body} headers={one.headers} query={one.query} />
      </div>
    </>
  )
}

export const replayOf = (id: number) =>
  once(`replay ${id}`, (key) => call("POST /api/hooks/:id/replay", { params: { id }, body: { key } }))

function Results({ runs }: { runs: Detail["runs"] }) {
  if (runs.length === 0) return null
  return (
    <ul class="lines">
      {runs.map(({ runId, state, reply, error }) => (
        <li key={runId}>
          <a href={link("runs", runId)}>{reply ?? error ?? runId}</a>
          <Badge state={state} />
        </li>
      ))}
    </ul>
  )
}

/** One after the other: of two at once, the answer to the first could stand there in the end. */
export function createTrial() {
  const result = signal<unknown>(undefined)
  let line: Promise<unknown> = Promise.resolve()
  const post = (body: Tried) => {
    const done = line.then(async () => (result.current = await call("POST /api/hooks/test", { body })))
    line = done.catch(() => undefined)
    return done
  }
  return { result, post }
}

/** What would be made of an edited request; nothing is done until it is sent. */
function Trial(given: Pick<Detail, "path" | "body" | "headers" | "query">) {
  const path = useSignal(given.path)
  const body = useSignal(given.body)
  const { result, post } = useMemo(createTrial, [])
  const attempt = (dryRun: boolean) => () =>
    post({ path: path.current, body: body.current, headers: given.headers, query: given.query, dryRun })
  return (
    <Card title="Try">
      <Field label="Path below the base" of={path} />
      <Field label="Body" rows={8} of={body} />
      <div class="actions">
        <Button act={attempt(false)}>Send for real</Button>
        <Button act={attempt(true)} kind="main">
          Dry run
        </Button>
      </div>
      {result.current !== undefined && <Json value={result.current} what="what would be done" />}
    </Card>
  )
}
