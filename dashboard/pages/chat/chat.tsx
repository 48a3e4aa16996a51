// The chat with the agent: conversations side by side, and the one that is open.
import { type Reply, call } from "../../api.ts"
import { go, link, place } from "../../router.ts"
import { Pending, useAsked } from "../../ui/asked.tsx"
import { Button } from "../../ui/parts.tsx"
import { Talk } from "./talk.tsx"
import { store, stored } from "./unsent.ts"

type Overview = Reply<"GET /api/chat">

const seenKey = "svc-chat-seen"

export default function Chat() {
  const asked = useAsked("chats", () => call("GET /api/chat", { query: { limit: 100 } }), { topics: ["chat"] })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const [agent = "main"] = known.agents
  const name = place.current.path[1] ?? "main"
  const key = name.includes(":") ? name : `agent:${agent}:${name === "main" ? name : `web:${name}`}`
  return (
    <div class="chat">
      <List known={known} chosen={key} />
      <Talk key={key} chat={key} known={known} />
    </div>
  )
}

function List({ known, chosen }: { known: Overview; chosen: string }) {
  const seen = stored<Record<string, number>>(seenKey, {})
  const open = known.chats.find(({ key }) => key === chosen)
  if (open && seen[chosen] !== open.lastId) store(seenKey, { ...seen, [chosen]: open.lastId })
  const [, agent = ""] = chosen.split(":")
  const shown = open ? known.chats : [{ key: chosen, agent, title: "New", lastId: 0 }, ...known.chats]
  const begin = () => go(link("chat", `agent:${agent}:web:${crypto.randomUUID().slice(0, 8)}`))
  return (
    <nav class="chats" aria-label="Conversations">
      <Button act={begin} icon="chat">
        New
      </Button>
      {shown.map(({ key, agent: of, title, lastId }) => (
        <a key={key} href={link("chat", key)} aria-current={key === chosen ? "true" : undefined}>
          <span class="cut">
            {key !== chosen && lastId > (seen[key] ?? 0) && (
              <span role="img" aria-label="New">
                •{" "}
              </span>
            )}
            {key.endsWith(":main") ? `Main${known.agents.length > 1 ? `, ${of}` : ""}` : title || "Files"}
          </span>
        </a>
      ))}
      {known.hasMore && <a href={link("sessions")}>All</a>}
    </nav>
  )
}
