// Who has keys to the gateway: tokens with scopes, browsers that have signed in; and the log of who did what.
import { useSignal } from "../ui/signals.ts"
import { type Reply, call } from "../api.ts"
import { inQuery } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Check, Field, bound } from "../ui/form.tsx"
import { Held } from "../ui/held.tsx"
import { Badge, Button, Card, Code, Line } from "../ui/parts.tsx"
import { Rows, fixedList } from "../ui/rows.tsx"
import { Time, exact } from "../ui/time.tsx"
import { pageFrom } from "../ui/list.ts"
import { useList } from "../ui/use-list.ts"

const scopes = {
  status: "reads how the gateway is",
  message: "sends messages",
  browser: "drives browsers",
  hooks: "posts webhooks",
  admin: "everything but webhooks",
} as const
type Scope = keyof typeof scopes
type AuditRow = Reply<"GET /api/audit">["items"][number]

export function Access() {
  const asked = useAsked("access", async () => {
    const [{ tokens }, { sessions }] = await Promise.all([call("GET /api/tokens"), call("GET /api/page/sessions")])
    return { tokens, sessions }
  })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const forGood = "It opens nothing from then on. This cannot be taken back."
  return (
    <>
      <NewToken again={asked.again} />
      <Held
        title="Tokens"
        items={known.tokens}
        empty={[
          "No tokens",
          "A program that is to use the gateway gets one of its own, with the scopes that it needs.",
        ]}
        verb="Revoke"
        past="revoked"
        act={({ id }) => call("POST /api/tokens/revoke", { body: { token: id } }).then(asked.again)}
        means={forGood}
      >
        {({ name, scopes: held, expired, expiresAt, lastUsedAt }) => (
          <Line
            title={name}
            aside={expired && <Badge state="expired" />}
            more={
              <>
                {held.join(", ")} · {lastUsedAt === null ? "never used" : <Time at={lastUsedAt} />}
                {expiresAt !== null && ` · until ${exact(expiresAt)}`}
              </>
            }
          />
        )}
      </Held>
      <Held
        title="Browsers that have signed in"
        items={known.sessions}
        empty={["None", "svc dashboard makes a link."]}
        verb="Sign out"
        past="signed out"
        act={({ id }) => call("POST /api/page/sessions/end", { body: { id } }).then(asked.again)}
        means={forGood}
      >
        {({ name, scopes: held, createdAt, lastUsedAt }) => (
          <>
            <Line title={name} more={`${held.join(", ")} · since ${exact(createdAt)}`} />
            <Time at={lastUsedAt} />
          </>
        )}
      </Held>
    </>
  )
}

function NewToken({ again }: { again: () => Promise<void> }) {
  const name = useSignal("")
  const expires = useSignal("")
  const held = useSignal<Scope[]>(["status"])
  const made = useSignal("")
  const make = async () => {
    const { token } = await call("POST /api/tokens", {
      body: { name: name.current, scopes: held.current, expires: expires.current.trim() || undefined },
    })
    made.current = token
    name.current = ""
    await again()
  }
  return (
    <Card title="New token">
      <div class="filters">
        <Field label="Name" of={name} placeholder="backup script" />
        <Field label="Ends after" of={expires} placeholder="never, 30d, 12h" />
      </div>
      {Object.entries(scopes).map(([scope, meaning]) => (
        <Check
          key={scope}
          label={`${scope}: ${meaning}`}
          of={bound(held.current.includes(scope as Scope), (on) => {
            held.current = on ? [...held.current, scope as Scope] : held.current.filter((one) => one !== scope)
          })}
        />
      ))}
      <div class="actions">
        <Button act={make} kind="main" disabled={name.current.trim() === "" || held.current.length === 0}>
          Make it
        </Button>
      </div>
      {made.current && (
        <>
          <p role="status">It is shown this once: keep it where the program finds it.</p>
          <Code text={made.current} what="the token" />
        </>
      )}
    </Card>
  )
}

export function AuditLog() {
  const filter = inQuery("action")
  const action = filter.current
  const list = useList<AuditRow>(action, {
    load: (before) =>
      call("GET /api/audit", {
        query: { since: "90d", ...pageFrom(before), action: action.trim() },
      }),
    order: ({ lastAt }) => lastAt,
  })
  return (
    <>
      <div class="filters">
        <Field label="What was done" of={filter} placeholder="token, page.enter" />
      </div>
      <Rows
        list={list}
        label="Who did what"
        empty={["Nothing of this kind", "Of ninety days is kept who changed what through which door."]}
      >
        {({ who, action: done, target, outcome, count, door, lastAt }) => (
          <>
            <Line
              title={done}
              aside={target}
              more={`${who.name || who.kind} · ${door}${count > 1 ? ` · ${count} times` : ""}`}
            />
            {outcome && <Badge state={outcome} tone={outcome === "ok" ? "good" : "warn"} />}
            <Time at={lastAt} />
          </>
        )}
      </Rows>
    </>
  )
}

const size = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

export function Backups() {
  const asked = useAsked("backups", () => call("GET /api/backups"), { everyMs: 3_000 })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const { folder, everyMs, running, failure, backups, more } = known
  return (
    <>
      <div class="head">
        <p>
          <code>{folder}</code>{" "}
          <span class="dim">
            {everyMs === 0
              ? "None are made by themselves: set backup.every."
              : `One every ${everyMs / 3_600_000} hours.`}
          </span>
        </p>
        <Button
          act={() => call("POST /api/backups").then(asked.again)}
          done="A backup is being made"
          kind="main"
          disabled={running}
        >
          {running ? "Being made…" : "Make one now"}
        </Button>
      </div>
      {failure && <p class="wrong">{failure.error}</p>}
      <Rows
        list={fixedList(backups.map((one) => ({ ...one, id: one.archive })))}
        label="Backups"
        empty={["No backups yet", "A backup holds the whole state folder."]}
      >
        {({ archive, bytes, version, scheduled, problem, createdAt }) => (
          <>
            <Line
              title={archive.split("/").pop()}
              more={problem ?? `${size(bytes)} · svc ${version} · ${scheduled ? "by schedule" : "by hand"}`}
              tone={problem ? "wrong" : "dim"}
            />
            <Time at={createdAt} />
          </>
        )}
      </Rows>
      {more && <p class="dim">Older ones lie in the folder.</p>}
      <p class="section dim">To bring one back, stop the gateway, and on its machine: svc backup restore latest</p>
    </>
  )
}
