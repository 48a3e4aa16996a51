// Messages out: what has become of each, sending one again, setting a failure aside.
import { type Reply, call } from "../api.ts"
import { go, link, place, setQuery } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Select } from "../ui/form.tsx"
import { Back, Badge, Button, Card, Facts, Failure, Json } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"
import { useList } from "../ui/use-list.ts"

type Summary = Reply<"GET /api/deliveries">["items"][number]

const states = ["new", "sending", "sent", "uncertain", "dead", "dropped"] as const

export default function Messages() {
  const [, id] = place.value.path
  return id === undefined ? <List /> : <Message key={id} id={Number(id)} />
}

function List() {
  const state = states.find((one) => one === place.value.query.get("state"))
  const list = useList<Summary>(state ?? "", {
    load: (before) => call("GET /api/deliveries", { query: { state, before, limit: before ? 500 : 100 } }),
    topic: "delivery",
    accepts: (message) => state === undefined || message.state === state,
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
        label="Messages"
        empty={{ title: "No messages", text: "What the agent sends to chats stands here, with what has become of it." }}
      >
        {(message) => (
          <>
            <a href={link("messages", message.id)}>
              <span class="cut">
                <strong>{message.channel}</strong>{" "}
                <span class="dim">
                  {message.chatId} · {message.kind}
                </span>
              </span>
              <span class="cut dim">{message.error ?? message.preview}</span>
            </a>
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
  const message = asked.value.value
  if (!message) return <Pending of={asked} />
  const isStuck = message.state === "dead" || message.state === "uncertain"
  const again = async () => {
    const { id: next } = await call("POST /api/deliveries/:id/retry", { params })
    toast("Queued once more")
    go(link("messages", next))
  }
  const dismiss = async () => {
    await call("POST /api/deliveries/:id/dismiss", { params })
    toast("Dismissed")
    await asked.again()
  }
  return (
    <>
      <Back to={link("messages")} words="All messages" />
      <div class="head">
        <h2>
          Message {id} <Badge state={message.state} />
        </h2>
        {isStuck && (
          <div class="buttons">
            <Button act={again} icon="again" kind="main">
              Send again
            </Button>
            <Button act={dismiss}>Dismiss</Button>
          </div>
        )}
      </div>
      {message.error !== null && <Failure error={new Error(message.error)} />}
      <Facts
        rows={[
          ["To", `${message.channel} ${message.account} ${message.chatId}`],
          ["Kind", message.kind],
          ["Run", message.runId && <a href={link("runs", message.runId)}>{message.runId}</a>],
          ["Written", <Time at={message.createdAt} both />],
          ["Sent", message.sentAt !== null && <Time at={message.sentAt} both />],
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
