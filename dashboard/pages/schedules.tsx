// Schedules: what the agent is told at times, when it is next, what became of it last; and a new one.
import { type Api, type Reply, call } from "../api.ts"
import { once } from "../once.ts"
import { link, place, setQuery } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Check, Field, Select, bound } from "../ui/form.tsx"
import { Badge, Button, Card, Empty, Facts } from "../ui/parts.tsx"
import { useSignal } from "../ui/signals.ts"
import { Time, when } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"

type Summary = Reply<"GET /api/schedules">["schedules"][number]
type Wish = Api["POST /api/schedules"]["body"]
type Again = () => Promise<void>

export default function Schedules() {
  const ended = place.current.query.get("ended") === "true" ? "true" : "false"
  const asked = useAsked(ended, () => call("GET /api/schedules", { query: { ended } }), {
    topics: ["run", "delivery"],
    everyMs: 10_000,
  })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  return (
    <>
      <New again={asked.again} />
      <Check
        label="Also those that are over"
        of={bound(ended === "true", (on) => setQuery({ ended: on ? "true" : "" }))}
      />
      {known.schedules.length === 0 && (
        <Empty title="No schedules yet">
          Add one here, list it in cron.jobs of the configuration, or tell the agent: remind me in 20 minutes.
        </Empty>
      )}
      <div class="cards">
        {known.schedules.map((one) => (
          <Schedule key={one.id} one={one} again={asked.again} />
        ))}
      </div>
    </>
  )
}

const acts = {
  remove: "Remove",
  pause: "Pause",
  resume: "Resume",
  run: "Run now",
} as const
type Act = keyof typeof acts

export const perform = (what: Act, id: string) =>
  what === "run"
    ? once(`run ${id}`, (key) => call("POST /api/schedules/:id/run", { params: { id }, body: { key } }))
    : call(`POST /api/schedules/:id/${what}`, { params: { id } })

export const add = (wish: Wish) =>
  once(JSON.stringify(wish), (key) => call("POST /api/schedules", { body: { ...wish, key } }))

function Schedule({ one, again }: { one: Summary; again: Again }) {
  const { id, name, source, state, last, nextAt } = one
  const isListed = source === "config"
  const can: Act[] = ["run"]
  if (state !== "ended") can.unshift(state === "paused" ? "resume" : "pause")
  if (state !== "ended" && !isListed) can.unshift("remove")
  const act = async (what: Act) => {
    await perform(what, id)
    await again()
  }
  return (
    <Card title={name} actions={<Badge state={state} tone={state === "active" ? "good" : "quiet"} />}>
      <p class="words">{one.text}</p>
      <Facts
        rows={[
          ["When", one.when],
          ["Next", when(nextAt)],
          [
            "Last",
            last && (
              <>
                <Badge state={last.state} /> <Time at={last.scheduledAt} both /> {last.detail}{" "}
                {last.runId && <a href={link("runs", last.runId)}>Run</a>}
              </>
            ),
          ],
          ["Goes to", one.goesTo],
          ["From", isListed ? "the configuration, where it is changed and removed" : source],
          ["Standing", !one.trusted && "words of others"],
        ]}
      />
      <div class="actions">
        {can.map((what) => (
          <Button
            key={what}
            act={() => act(what)}
            sure={what === "remove" && [`Remove ${name}?`, "It runs no more. What it has done stays known."]}
            done={`Done: ${acts[what]} ${name}`}
            kind={what === "remove" ? "danger" : "plain"}
            label={`${acts[what]} ${name}`}
          >
            {acts[what]}
          </Button>
        ))}
      </div>
    </Card>
  )
}

const kinds = {
  cron: ["by five fields", "0 8 * * 1-5"],
  every: ["again and again, every", "30m, 6h"],
  in: ["once, from now in", "20m, 3 days"],
  at: ["once, at", "18:00, 2026-12-24 18:00"],
} as const
type Kind = keyof typeof kinds

function New({ again }: { again: Again }) {
  const text = useSignal("")
  const kind = useSignal("cron")
  const time = useSignal("")
  const zone = useSignal("")
  const make = async () => {
    const timezone = zone.current.trim() || undefined
    const { name } = await add({ text: text.current, [kind.current]: time.current, timezone })
    toast(`${name} is made`)
    text.current = time.current = ""
    await again()
  }
  return (
    <Card title="New schedule">
      <Field label="What the agent is told" rows={2} of={text} />
      <div class="filters">
        <Select label="When" of={kind} options={Object.entries(kinds).map(([key, [words]]) => [key, words] as const)} />
        <Field label="Time" of={time} placeholder={kinds[kind.current as Kind][1]} />
        <Field label="Time zone" of={zone} placeholder="Europe/Berlin" />
      </div>
      <div class="actions">
        <Button act={make} kind="main" disabled={text.current.trim() === "" || time.current.trim() === ""}>
          Add
        </Button>
      </div>
    </Card>
  )
}
