// Approvals: what the agent asks to be allowed, with everything that decides what would be done, and the answers.
import { type Reply, call } from "../api.ts"
import { inQuery, link, oneInQuery, place } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Select } from "../ui/form.tsx"
import { Badge, Button, Facts, Head, Json, Line } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time, when } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"
import { pageFrom } from "../ui/list.ts"
import { useList } from "../ui/use-list.ts"

type Summary = Reply<"GET /api/approvals">["approvals"][number]

const states = ["asked", "allowed", "denied", "expired", "used"] as const

export default function Approvals() {
  const [, id] = place.current.path
  return id === undefined ? <List /> : <Question key={id} id={id} />
}

function List() {
  const state = oneInQuery("state", states)
  const list = useList<Summary>(state ?? "", {
    load: async (before) => {
      const { approvals, next } = await call("GET /api/approvals", {
        query: { state, ...pageFrom(before) },
      })
      return { items: approvals, next }
    },
    order: ({ askedAt }) => askedAt,
    touchedBy: "waiting",
  })
  return (
    <>
      <div class="filters">
        <Select label="State" of={inQuery("state")} options={[["", "all"], ...states]} />
      </div>
      <Rows
        list={list}
        label="Approvals"
        empty={[
          "Nothing was asked",
          "What the agent may not do by itself, because it has read words of others, it asks here and in your chat.",
        ]}
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
  const one = asked.known
  if (!one) return <Pending of={asked} />
  const decide = (decision: "allow" | "deny") => async () => {
    const { message } = await call(`POST /api/approvals/:id/${decision}`, { params })
    toast(message)
    await asked.again()
  }
  return (
    <>
      <Head back={["approvals", "All approvals"]} title={one.text.split("\n", 1)} state={one.state}>
        {one.state === "asked" && (
          <>
            <Button act={decide("allow")} kind="main">
              Allow once
            </Button>
            <Button act={decide("deny")} kind="danger">
              Deny
            </Button>
          </>
        )}
      </Head>
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
          ["Asked", when(one.askedAt)],
          ["Stands until", when(one.expiresAt)],
          ["Answered", when(one.decidedAt)],
          ["By", one.decidedBy],
          ["Done", when(one.usedAt)],
        ]}
      />
    </>
  )
}
