// People: who asks to be let in, who was, owners, groups; and, as a question, who would be heard where and why.
import { useSignal } from "../ui/signals.ts"
import type { ComponentChildren } from "preact"
import { useMemo } from "../ui/hooks.ts"
import { type Reply, call } from "../api.ts"
import { inQuery, link, place, setQuery } from "../router.ts"
import { Pending, createQuestion, useAsked } from "../ui/asked.tsx"
import { Check, Field, Select, bound } from "../ui/form.tsx"
import { Badge, Button, Card, Empty, Facts, Failure, Line, Tabs } from "../ui/parts.tsx"
import { Rows, fixedList } from "../ui/rows.tsx"
import { Time, when } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"

type People = Reply<"GET /api/people">
type Verdict = Reply<"GET /api/channels/:channel/explain">
type Outcome = Verdict["outcome"]

const outcomes: Record<Outcome, ["heard" | "asked to pair" | "not heard", "good" | "warn" | "quiet"]> = {
  accept: ["heard", "good"],
  pair: ["asked to pair", "warn"],
  drop: ["not heard", "quiet"],
}

export default function PeoplePage() {
  const people = useAsked("people", () => call("GET /api/people"), { topics: ["waiting"] })
  const known = people.known
  const [, part = ""] = place.current.path
  if (!known) return <Pending of={people} />
  return (
    <>
      <Tabs
        page="people"
        current={part}
        of={[
          ["", "People"],
          ["groups", `Groups (${known.groups.length})`],
          ["explain", "Who is heard"],
        ]}
      />
      {part === "explain" ? (
        <Explain people={known} />
      ) : part === "groups" ? (
        <Groups people={known} />
      ) : (
        <>
          <Requests people={known} again={people.again} />
          <Owners people={known} />
          <LetIn people={known} again={people.again} />
        </>
      )}
    </>
  )
}

interface Shown {
  people: People
  again: () => Promise<void>
}

/** `default` is what most have, and says nothing. */
const accountOf = (account: string) => (account === "default" ? "" : ` · ${account}`)

const explainLink = (chat: string, account: string) =>
  `${link("people", "explain")}?${new URLSearchParams({ chat, account })}`

const mentionOf = ({ mention }: People["groups"][number]["stranger"]) =>
  mention ? (mention.isRequired ? ", when the bot is mentioned" : ", without a mention") : ""

function Requests({ people: { requests }, again }: Shown) {
  const owner = useSignal<Record<string, boolean>>({})
  if (requests.length === 0)
    return (
      <Empty title="Nobody asks to be let in">
        Whoever writes to the bot for the first time gets a code, and stands here.
      </Empty>
    )
  return (
    <div class="cards">
      {requests.map((one) => {
        const { channel, code, account, label } = one
        const params = { channel }
        const allow = async () => {
          const done = await call("POST /api/pairing/:channel/approve", {
            params,
            body: { code, account, owner: owner.current[code] === true },
          })
          toast(
            `${label} is let in${done.isOwner ? ", as an owner" : ""}${done.isAnswered ? ", and is being answered" : ""}`,
          )
          await again()
        }
        const deny = () => call("POST /api/pairing/:channel/deny", { params, body: { code, account } }).then(again)
        return (
          <Card title={label} key={channel + account + code}>
            <Facts
              rows={[
                ["Asks by", channel + accountOf(account)],
                ["Id", one.senderId],
                ["Code", <code>{code}</code>],
                ["Since", when(one.createdAt)],
                ["Lapses", <Time at={one.expiresAt} />],
              ]}
            />
            <Check
              label="As an owner: may do everything, and is asked for approvals"
              of={bound(owner.current[code] === true, (value) => (owner.current = { ...owner.current, [code]: value }))}
            />
            <div class="actions">
              <Button act={deny} kind="danger" label={`Deny ${label}`} done={`${label} is not let in`}>
                Deny
              </Button>
              <Button act={allow} kind="main" label={`Allow ${label}`}>
                Allow
              </Button>
            </div>
          </Card>
        )
      })}
    </div>
  )
}

function Section({
  title,
  count,
  text,
  children,
}: {
  title: string
  count?: number
  text: string
  children: ComponentChildren
}) {
  return (
    <section class="section">
      <h2>
        {title} {count !== undefined && <span class="dim">{count}</span>}
      </h2>
      <p class="dim">{text}</p>
      {children}
    </section>
  )
}

function Owners({ people: { owners } }: Pick<Shown, "people">) {
  return (
    <Section
      title="Owners"
      count={owners.length}
      text="They may do everything: commands, settings, approvals. The configuration lists them, and letting somebody in may add one."
    >
      {owners.length === 0 && (
        <Empty title="Nobody is an owner yet">
          Let somebody in as an owner, or list an id in channels.chatapp.allowFrom.
        </Empty>
      )}
      <ul class="lines">
        {owners.map(({ channel, account, entry, senderId, label, key }) => (
          <li key={account + entry}>
            <span class="grow">
              <strong>{entry === "*" ? "Everybody" : (label ?? entry)}</strong>{" "}
              <span class="dim">
                {channel + accountOf(account)} ·{" "}
                {entry === "*" ? "every sender is let in" : (senderId ?? "nobody has written under this name yet")}
              </span>
            </span>
            <code class="dim">{key}</code>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function LetIn({ people: { allowed, shared }, again }: Shown) {
  const revoke = async ({ channel, senderId, account, label }: People["allowed"][number]) => {
    const { listedIn } = await call("POST /api/pairing/:channel/revoke", {
      params: { channel },
      body: { senderId, account },
    })
    toast(listedIn.length === 0 ? `${label} is let in no more` : `Still let in by ${listedIn.join(", ")}`)
    await again()
  }
  return (
    <Section
      title="Let in by pairing"
      count={allowed.length}
      text={
        shared.length > 1
          ? "They are heard in direct chats, and all of them share one conversation with the agent."
          : "They are heard in direct chats, each in a conversation of their own. They change no settings and allow nothing."
      }
    >
      <Rows
        list={fixedList(allowed.map((person) => ({ ...person, id: `${person.account} ${person.senderId}` })))}
        label="People"
        empty={["Nobody was let in yet", "Allow a request, and whoever made it stands here."]}
      >
        {(person) => (
          <>
            <Line
              to={explainLink(person.senderId, person.account)}
              title={person.label}
              aside={person.isOwner && <Badge state="owner" tone="good" />}
              more={`${person.channel + accountOf(person.account)} · ${person.senderId}${person.approvedBy && ` · by ${person.approvedBy}`}`}
            />
            <Time at={person.approvedAt} />
            <Button
              act={() => revoke(person)}
              sure={[
                `Let ${person.label} in no more?`,
                "What they write is not heard any more, and what waits is not answered. Their conversation stays.",
              ]}
              label={`Revoke ${person.label}`}
            >
              Revoke
            </Button>
          </>
        )}
      </Rows>
    </Section>
  )
}

function Groups({ people: { groups } }: Pick<Shown, "people">) {
  return (
    <Rows
      list={fixedList(groups.map((group) => ({ ...group, id: group.account + group.chatId })))}
      label="Groups"
      empty={["No groups", "Add the bot to a group, or list one in channels.chatapp.groups: it stands here."]}
    >
      {({ channel, account, chatId, isMember, stranger }) => {
        const [words, tone] = outcomes[stranger.outcome]
        return (
          <>
            <Line
              to={explainLink(chatId, account)}
              title={chatId}
              aside={channel + accountOf(account) + (isMember ? "" : " · the bot is not in it")}
              more={`Somebody unknown: ${stranger.reason}${mentionOf(stranger)}`}
            />
            <Badge state={words} tone={tone} />
          </>
        )
      }}
    </Rows>
  )
}

const asks = ["account", "chat", "user", "username", "topic"] as const

function Explain({ people: { accounts } }: Pick<Shown, "people">) {
  const { query } = place.current
  const { answer, problem, put } = useMemo(() => createQuestion<Verdict>(), [])
  const values = Object.fromEntries(asks.map((name) => [name, query.get(name) ?? ""])) as Record<
    (typeof asks)[number],
    string
  >
  const ask = (event: Event) => {
    event.preventDefault()
    const channel = accounts.find(({ account }) => account === values.account)?.channel ?? accounts[0]?.channel ?? ""
    void put(call("GET /api/channels/:channel/explain", { params: { channel }, query: values }))
  }
  if (accounts.length === 0) return <Empty title="There is no chat yet">svc setup connects one.</Empty>
  return (
    <>
      <form onSubmit={ask}>
        <div class="filters">
          <Select
            label="Account"
            of={bound(values.account || (accounts[0]?.account ?? ""), (account) => setQuery({ account }))}
            options={accounts.map(({ account, channel }) => [account, `${channel} ${account}`] as const)}
          />
          <Field label="Chat" of={inQuery("chat")} placeholder="-1001234 or 42" />
          <Field label="Sender's id" of={inQuery("user")} placeholder="the chat itself" />
          <Field label="@name" of={inQuery("username")} />
          <Field label="Topic" of={inQuery("topic")} />
          <button type="submit" class="main" disabled={values.chat.trim() === ""}>
            Explain
          </button>
        </div>
      </form>
      {problem.current !== undefined && <Failure error={problem.current} />}
      <div aria-live="polite">{answer.current && <Answer of={answer.current} />}</div>
    </>
  )
}

function Answer({ of: { outcome, reason, key, origin, trusted, mention, steps, notes } }: { of: Verdict }) {
  const [words, tone] = outcomes[outcome]
  return (
    <Card
      title={`${words[0]?.toUpperCase()}${words.slice(1)}: ${reason}`}
      actions={<Badge state={words} tone={tone} />}
    >
      <Facts
        rows={[
          ["Key", key && <code>{key}</code>],
          ["Speaks as", origin && `${origin}, ${trusted ? "trusted" : "not trusted"}`],
          ["Mention", mention && `${mention.isRequired ? "needed" : "not needed"}, by ${mention.by}`],
          ["Rules asked", steps.map(({ rule, outcome: step }) => `${rule}: ${step}`).join(" → ")],
          ["Note", notes.join("; ")],
        ]}
      />
    </Card>
  )
}
