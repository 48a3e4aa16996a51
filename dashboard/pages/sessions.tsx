// Sessions: conversations, the words in all of them, and one of them to read, take along, shorten and remove.
import { type Reply, call } from "../api.ts"
import { go, inQuery, link, place, setQuery } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { download } from "../ui/download.ts"
import { Field, Select, bound } from "../ui/form.tsx"
import { Badge, Button, Code, Empty, Facts, Head, Json, Line, More, OfOthers } from "../ui/parts.tsx"
import { Rows } from "../ui/rows.tsx"
import { Time, when, exact, grouped } from "../ui/time.tsx"
import { Transcript } from "../ui/transcript.tsx"
import { pageFrom } from "../ui/list.ts"
import { useList } from "../ui/use-list.ts"

type Summary = Reply<"GET /api/sessions">["items"][number]
type Hit = Reply<"GET /api/search">["items"][number]
type Said = Reply<"GET /api/session/messages">["items"][number]

export default function Sessions() {
  const [, key] = place.current.path
  if (key !== undefined) return <Session key={key} sessionKey={key} />
  const text = place.current.query.get("text") ?? ""
  return (
    <>
      <div class="filters" role="search">
        <Field label="Words in all conversations" type="search" of={inQuery("text")} />
      </div>
      {text.trim() === "" ? <List /> : <Found text={text.trim()} />}
    </>
  )
}

function List() {
  const list = useList<Summary & { id: string }>("", {
    load: async (before) => {
      const { items, next } = await call("GET /api/sessions", { query: pageFrom(before, 50) })
      return { items: items.map((item) => ({ ...item, id: item.key })), next }
    },
    order: ({ updatedAt }) => updatedAt,
    touchedBy: "session",
  })
  return (
    <Rows
      list={list}
      label="Sessions"
      empty={["No conversations yet", "Write to the agent, and the conversation stands here."]}
    >
      {({ key, kind, messages, tokens, lastRoute, updatedAt }) => (
        <>
          <Line
            to={link("sessions", key)}
            title={key}
            more={`${sizeOf(messages, tokens)}${lastRoute ? ` · ${lastRoute.channel} ${lastRoute.chatId}` : ""}`}
          />
          <Badge state={kind} />
          <Time at={updatedAt} />
        </>
      )}
    </Rows>
  )
}

const sizeOf = (messages: number, tokens: number) => `${messages} messages, about ${grouped(tokens)} tokens`

function Found({ text }: { text: string }) {
  const list = useList<Hit>(text, {
    load: (before) => call("GET /api/search", { query: { text, before, limit: 50 } }),
  })
  return (
    <Rows
      list={list}
      label="Messages"
      empty={["Nothing found", "Whole words are found, their beginnings, and parts of three letters or more."]}
    >
      {({ id, key, sessionId, excerpt, role, at }) => (
        <>
          <Line
            to={`${link("sessions", key)}?at=${id}&conversation=${sessionId}`}
            title=""
            aside={excerpt}
            more={`${roles[role]} · ${key}`}
          />
          <Time at={at} />
        </>
      )}
    </Rows>
  )
}

const roles = { user: "User", assistant: "Agent", tool: "Results of tools" }
const page = 50

function Session({ sessionKey: key }: { sessionKey: string }) {
  const asked = useAsked(key, () => call("GET /api/session", { query: { key } }), { topics: ["session"] })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const { query } = place.current
  const conversation = query.get("conversation") ?? undefined
  const at = Number(query.get("at")) || undefined
  return (
    <>
      <About of={known} conversation={conversation} />
      {known.conversations.length > 1 && (
        <Select
          label="Conversation"
          of={bound(conversation ?? "", (value) => setQuery({ conversation: value, at: "" }))}
          options={known.conversations.map(
            ({ sessionId, createdAt, endedAt, messages }) =>
              [
                endedAt === null ? "" : sessionId,
                `${endedAt === null ? "goes on" : exact(createdAt)}: ${messages} messages`,
              ] as const,
          )}
        />
      )}
      <Transcript<Said>
        key={`${conversation} ${at}`}
        label="What was said"
        page={page}
        at={at}
        load={async (where) => {
          const { items } = await call("GET /api/session/messages", {
            query: { key, limit: page, conversation, ...where, last: where.after === undefined ? "true" : "false" },
          })
          return items
        }}
        grows={(entry) => entry.key === key && conversation === undefined}
        empty={<Empty title="Nothing was said here yet">The next message begins it.</Empty>}
      >
        {(said) => <Words {...said} />}
      </Transcript>
    </>
  )
}

function About({ of: known, conversation }: { of: Reply<"GET /api/session">; conversation: string | undefined }) {
  const { key } = known
  const save = (format: "markdown" | "jsonl") => () => {
    const wanted = new URLSearchParams({ key, format, ...(conversation === undefined ? {} : { conversation }) })
    return download(
      `/api/session/export?${wanted}`,
      `${key.replace(/\W+/g, "-")}.${format === "jsonl" ? "jsonl" : "md"}`,
    )
  }
  const compact = async () => {
    const { runId } = await call("POST /api/session/compact", { body: { key } })
    go(link("runs", runId))
  }
  const remove = async () => {
    await call("POST /api/session/delete", { body: { key } })
    go(link("sessions"))
  }
  return (
    <>
      <Head back={["sessions", "All sessions"]} title={key} state={known.kind}>
        <Button act={save("markdown")} icon="file">
          Markdown
        </Button>
        <Button act={save("jsonl")} icon="file">
          JSONL
        </Button>
        <Button act={compact}>Compact</Button>
        <Button
          act={remove}
          kind="danger"
          sure={[
            "Delete this session?",
            `${known.conversations.length} conversations go for good, with all that was said. Export what you want to keep.`,
          ]}
          done="Deleted"
        >
          Delete
        </Button>
      </Head>
      <More title="About it">
        <Facts
          rows={[
            ["Agent", known.agentId],
            ["Size", sizeOf(known.messages, known.tokens)],
            ["Last used", when(known.updatedAt)],
            ["Last heard", known.lastRoute && `${known.lastRoute.channel} ${known.lastRoute.chatId}`],
            ...Object.entries(known.settings).map(([name, value]) => [name, JSON.stringify(value)] as [string, string]),
            ["Runs", <a href={`${link("runs")}?session=${encodeURIComponent(key)}`}>of this session</a>],
          ]}
        />
      </More>
    </>
  )
}

interface Part {
  type: string
  text?: string
}
interface Message {
  role: keyof typeof roles
  text?: string
  content?: Part[]
  toolCalls?: { id: string; name: string; input: unknown }[]
  results?: { callId: string; toolName: string; content: Part[]; isError: boolean }[]
}

const wordsOf = (parts: Part[] = []) =>
  parts.map(({ type, text }) => (type === "text" ? text : "(a picture)")).join("\n")

function Words({ at, message, runId, trusted, isSummary }: Said) {
  const { role, text, content, toolCalls = [], results = [] } = message as Message
  const words = text ?? wordsOf(content)
  return (
    <>
      <header>
        <strong>{isSummary ? "Summary of what is above" : roles[role]}</strong>
        {!trusted && <OfOthers />}
        {runId !== null && <a href={link("runs", runId)}>run</a>}
        <Time at={at} />
      </header>
      {words !== "" && <p class="words">{words}</p>}
      {toolCalls.map(({ id, name, input }) => (
        <More key={id} title={`Calls ${name}`}>
          <Json value={input} what={`the input of ${name}`} />
        </More>
      ))}
      {results.map((result) => (
        <More key={result.callId} title={`${result.toolName}${result.isError ? " failed" : ""}`}>
          <Code text={wordsOf(result.content)} what={`the result of ${result.toolName}`} />
        </More>
      ))}
    </>
  )
}
