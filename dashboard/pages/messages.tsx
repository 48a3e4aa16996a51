// Messages out: what has become of each, sending one again, setting a failure aside.
import { type Reply, call } from "../api.ts"
import { go, inQuery, link, oneInQuery, place } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Select } from "../ui/form.tsx"
import { Badge, Button, Card, Facts, Failure, Head, Json, Line } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time, when } from "../ui/time.tsx"
import { pageFrom } from "../ui/list.ts"
import { useList } from "../ui/use-list.ts"

type Summary = Reply<"GET /api/deliveries">["items"][number]

const states = ["new", "sending", "sent", "uncertain", "dead", "dropped"] as const

export default function Messages() {
  const [, id] = place.current.path
  return id === undefined ? <List /> : <Message key={id} id={Number(id)} />
}

function List() {
  const state = oneInQuery("state", states)
  const list = useList<Summary>(state ?? "", {
    load: (before) => call("GET /api/deliveries", { query: { state, ...pageFrom(before) } }),
    topic: "delivery",
    accepts: (message) => state === undefined || message.state === state,
  })
  return (
    <>
      <div class="filters">
        <Select label="State" of={inQuery("state")} options={[["", "all"], ...states]} />
      </div>
      <Rows
        list={list}
        label="Messages"
        empty={["No messages", "What the agent sends to chats stands here, with what has become of it."]}
      >
        {(message) => (
          <>
            <Line
              to={link("messages", message.id)}
              title={message.channel}
              aside={`${message.chatId} · ${message.kind}`}
              more={message.error ?? message.preview}
            />
            <Badge state={message.state} />
            <Time at={message.createdAt} />
          </>
        )}
      </Rows>
    </>
  )
}

function Message({ id }: { id: number }) {
  const params = { id }
  const asked = useAsked(String(id), () => call("GET /api/deliveries/:id", { params }), { topics: ["delivery"] })
  const message = asked.known
  if (!message) return <Pending of={asked} />
  const isStuck = message.state === "dead" || message.state === "uncertain"
  const again = async () => {
    const { id: next } = await call("POST /api/deliveries/:id/retry", { params })
    go(link("messages", next))
  }
  return (
    <>
      <Head back={["messages", "All messages"]} title={`Message ${id}`} state={message.state}>
        {isStuck && (
          <>
            <Button act={again} done="Queued once more" icon="again" kind="main">
              Send again
            </Button>
            <Button act={() => call("POST /api/deliveries/:id/dismiss", { params }).then(asked.again)} done="Dismissed">
              Dismiss
            </Button>
          </>
        )}
      </Head>
      {message.error !== null && <Failure error={message.error} />}
      <Facts
        rows={[
          ["To", `${message.channel} ${message.account} ${message.chatId}`],
          ["Kind", message.kind],
          ["Run", message.runId && <a href={link("runs", message.runId)}>{message.runId}</a>],
          ["Written", when(message.createdAt)],
          ["Sent", when(message.sentAt)],
          ["Id there", message.remoteId],
          ["Attempts", message.attempts],
        ]}
      />
      <div class="cards">
        <Card title="What it holds">
          <Json value={message.payload} what="the payload" />
        </Card>
        <Card title="Where it goes">
          <Json value={message.route} what="the route" />
        </Card>
      </div>
    </>
  )
}
