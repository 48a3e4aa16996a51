// Approvals: what the agent asks to be allowed, with everything that decides what would be done, and the answers.
import { type Reply, call } from "../api.ts"
import { link, place, setQuery } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Select } from "../ui/form.tsx"
import { Back, Badge, Button, Facts, Json, Line } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"
import { useList } from "../ui/use-list.ts"

type Summary = Reply<"GET /api/approvals">["approvals"][number]

const states = ["asked", "allowed", "denied", "expired", "used"] as const

export default function Approvals() {
  const [, id] = place.value.path
  return id === undefined ? <List /> : <Question key={id} id={id} />
}

function List() {
  const state = states.find((one) => one === place.value.query.get("state"))
  const list = useList<Summary>(state ?? "", {
    load: async (before) => {
      const { approvals, next } = await call("GET /api/approvals", { query: { state, before, limit: 100 } })
      return { items: approvals, next }
    },
    order: ({ askedAt }) => askedAt,
    touchedBy: "waiting",
  })
  return (
    <>
      <div class="filters">
        <Select
          label="State"
          value={state ?? ""}
          set={(value) => setQuery({ state: value })}
          options={[["", "all"], ...states]}
        />
      </div>
      <Rows
        list={list}
        label="Approvals"
        empty={{
          title: "Nothing was asked",
          text: "What the agent may not do by itself, because it has read words of others, it asks here and in your chat.",
        }}
      >
        {(one) => (
          <>
            <Line
              to={link("approvals", one.id)}
              title={one.text.split("\n", 1)}
              more={`${one.tool} · ${one.session}`}
            />
            <Badge state={one.state} />
            <Time at={one.askedAt} />
          </>
        )}
      </Rows>
    </>
  )
}

function Question({ id }: { id: string }) {
  const params = { id }
  const asked = useAsked(id, () => call("GET /api/approvals/:id", { params }), { topics: ["waiting"] })
  const one = asked.value.value
  if (!one) return <Pending of={asked} />
  const decide = (decision: "allow" | "deny") => async () => {
    const { message } = await call(`POST /api/approvals/:id/${decision}`, { params })
    toast(message)
    await asked.again()
  }
  return (
    <>
      <Back to={link("approvals")} words="All approvals" />
      <div class="head">
        <h2>
          {one.text.split("\n", 1)} <Badge state={one.state} />
        </h2>
        {one.state === "asked" && (
          <div class="buttons">
            <Button act={decide("allow")} kind="main">
              Allow once
            </Button>
            <Button act={decide("deny")} kind="danger">
              Deny
            </Button>
          </div>
        )}
      </div>
      <Json value={one.action} what="the action, whole" />
      <p class="dim">
        That is the whole action. An answer counts once, for exactly this. SHA-256 <code>{one.digest}</code>
      </p>
      <Facts
        rows={[
          ["Tool", one.tool],
          ["Run", <a href={link("runs", one.runId)}>{one.runId}</a>],
          ["Session", <a href={link("sessions", one.session)}>{one.session}</a>],
          ["Acts on words of", one.origin],
          ["Asked", <Time at={one.askedAt} both />],
          ["Stands until", <Time at={one.expiresAt} both />],
          ["Answered", one.decidedAt !== null && <Time at={one.decidedAt} both />],
          ["By", one.decidedBy],
          ["Done", one.usedAt !== null && <Time at={one.usedAt} both />],
        ]}
      />
    </>
  )
}
