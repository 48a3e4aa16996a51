// Usage: what the calls of models took, by day, model, session, run; in money and in tokens.
import { type Reply, call } from "../api.ts"
import { link, place, setQuery } from "../router.ts"
import { may } from "../session.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Bars } from "../ui/bars.tsx"
import { Select, bound } from "../ui/form.tsx"
import { Badge, Button, Card, Empty, Facts, Line } from "../ui/parts.tsx"
import { Rows, fixedList } from "../ui/rows.tsx"
import { grouped } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"

type Usage = Reply<"GET /api/usage">
type Sums = Usage["totals"]

const groups = [
  ["day", "day"],
  ["model", "model"],
  ["session", "session"],
  ["job", "run"],
  ["agent", "agent"],
  ["purpose", "purpose"],
] as const
const ranges = [
  ["1d", "a day"],
  ["7d", "a week"],
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["400d", "400 days"],
] as const

const number = (value: number | null) => (value === null ? "unknown" : grouped(value))
const money = (value: number | null) => (value === null ? "unknown" : `$${value.toFixed(value < 1 ? 4 : 2)}`)
const tokensOf = ({ input, output }: Sums) => (input ?? 0) + (output ?? 0)

export default function UsagePage() {
  const { query } = place.current
  const by = groups.find(([name]) => name === query.get("by"))?.[0] ?? "model"
  const since = ranges.find(([name]) => name === query.get("since"))?.[0] ?? "30d"
  const asked = useAsked(
    `${by} ${since}`,
    async () => {
      const [days, rows, budget] = await Promise.all([
        call("GET /api/usage", { query: { by: "day", since, limit: 400 } }),
        by === "day" ? undefined : call("GET /api/usage", { query: { by, since, limit: 500 } }),
        call("GET /api/budget"),
      ])
      return { days, rows: rows ?? days, caps: budget.caps }
    },
    { topics: ["run"], everyMs: 60_000 },
  )
  const known = asked.known
  return (
    <>
      <div class="filters">
        <Select label="Of the last" of={bound<string>(since, (value) => setQuery({ since: value }))} options={ranges} />
        <Select label="By" of={bound<string>(by, (value) => setQuery({ by: value }))} options={groups} />
      </div>
      {known === undefined ? (
        <Pending of={asked} />
      ) : known.days.totals.calls === 0 ? (
        <>
          <Empty title="No model was asked in this time">
            What its calls take stands here, from the first message on.
          </Empty>
          {known.caps.length > 0 && <Caps caps={known.caps} again={asked.again} />}
        </>
      ) : (
        <>
          <div class="cards">
            <Caps caps={known.caps} again={asked.again} />
            <Totals of={known.days.totals} />
            <Days usage={known.days} />
          </div>
          <Shares usage={known.rows} />
        </>
      )}
    </>
  )
}

type Cap = Reply<"GET /api/budget">["caps"][number]
type Allowance = { untilTomorrow?: true; dollars?: number; tokens?: number }
type Amount = NonNullable<Cap["dollars"]>

const used = (amount: Amount | null, words: (value: number) => string) =>
  amount && `${words(amount.spent + amount.held)} of ${words(amount.limit + amount.allowed)}`

/** An answer may be lost: beyond the cap that is shown, and not beyond what was allowed by the first press. */
export function allowMore(cap: Cap, more: Allowance) {
  const { limit = 0, allowed = 0 } = cap[cap.nearest] ?? {}
  const ifMostIs = more.untilTomorrow ? undefined : limit + allowed
  return call("POST /api/budget/allow", { body: { cap: cap.id, ...more, ifMostIs } })
}

function Caps({ caps, again }: { caps: Cap[]; again: () => Promise<void> }) {
  const allow = async (cap: Cap, more: Allowance, done: string) => {
    const { resumed, isChanged } = await allowMore(cap, more)
    toast(
      isChanged
        ? `${cap.id} was raised already`
        : resumed === 0
          ? done
          : `${done}: ${resumed} ${resumed === 1 ? "run goes" : "runs go"} on`,
    )
    await again()
  }
  const shown = caps.filter((cap) => cap.isListed)
  return (
    <Card title="Caps" actions={may("admin") && <a href={`${link("settings")}?section=budget`}>Change</a>}>
      {caps.length === 0 && (
        <Empty title="Nothing bounds what is spent">Caps of a day, a month, an agent, a run are set in budget.</Empty>
      )}
      {caps.length > 0 && shown.length === 0 && <p class="dim">Each run has one; none is near it.</p>}
      {shown.map((cap) => (
        <div key={cap.id}>
          <p class="head">
            <strong>{cap.id}</strong>
            {cap.state !== "open" && <Badge state={cap.state} tone={cap.state === "reached" ? "bad" : "warn"} />}
          </p>
          <progress value={Math.min(1, cap.share)} aria-label={`Used of ${cap.id}`} />
          <p class="dim">
            {[used(cap.dollars, money), used(cap.tokens, (tokens) => `${grouped(tokens)} tokens`)]
              .filter(Boolean)
              .join(", ")}
          </p>
          {cap.state === "reached" && may("admin") && <Raise cap={cap} allow={allow} />}
        </div>
      ))}
    </Card>
  )
}

/** As below the message of a chat. */
function Raise({ cap, allow }: { cap: Cap; allow: (cap: Cap, more: Allowance, done: string) => Promise<void> }) {
  const [amount, words] = cap.nearest === "dollars" ? [1, "$1"] : [100_000, "100,000 tokens"]
  const choices: [string, Allowance][] = [
    [`Allow ${words} more`, { [cap.nearest]: amount }],
    [cap.scope === "job" ? "No cap for this run" : "Off until tomorrow", { untilTomorrow: true }],
  ]
  return (
    <p class="actions">
      {choices.map(([label, more]) => (
        <Button act={() => allow(cap, more, label)} label={`${label}: ${cap.id}`}>
          {label}
        </Button>
      ))}
    </p>
  )
}

function Totals({ of }: { of: Sums }) {
  return (
    <Card title="All together">
      <Facts
        rows={[
          ["Cost", money(of.cost)],
          ["Calls", grouped(of.calls)],
          ["Tokens in", number(of.input)],
          ["From a cache", of.cacheRead !== null && number(of.cacheRead)],
          ["Tokens out", number(of.output)],
          ["Not counted", of.uncounted > 0 && `${of.uncounted} calls whose provider has told no tokens`],
          ["Not priced", of.unpriced > 0 && `${of.unpriced} calls of models whose prices are not known`],
        ]}
      />
    </Card>
  )
}

const dayMs = 86_400_000

/** Days without calls are days too. */
function daysOf({ since, until, timeZone, rows }: Usage): { key: string; row: Usage["rows"][number] | undefined }[] {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone })
  const names = new Set<string>()
  for (let at = since; at < until; at += dayMs) names.add(format.format(at))
  names.add(format.format(until - 1))
  const known = new Map(rows.map((row) => [row.key, row]))
  return [...names].map((key) => ({ key, row: known.get(key) }))
}

function Days({ usage }: { usage: Usage }) {
  const hasCost = (usage.totals.cost ?? 0) > 0
  const days = daysOf(usage).map(({ key, row }) => ({
    name: key,
    value: row === undefined ? 0 : hasCost ? (row.cost ?? 0) : tokensOf(row),
    words: row ? `${key}: ${money(row.cost)}, ${grouped(tokensOf(row))} tokens, ${row.calls} calls` : key,
  }))
  return (
    <Card title={hasCost ? "Cost by day" : "Tokens by day"}>
      <Bars bars={days} label={`${days.length} days; the same stands in the list by day`} />
    </Card>
  )
}

const addressOf = (by: Usage["by"], key: string) =>
  !may("admin") ? undefined : by === "job" ? link("runs", key) : by === "session" ? link("sessions", key) : undefined

function Shares({ usage: { by, rows, more, totals } }: { usage: Usage }) {
  const whole = (totals.cost ?? 0) > 0 ? totals.cost : tokensOf(totals)
  const list = rows.map((row) => ({ ...row, id: row.key ?? "" }))
  return (
    <section class="section">
      <h2>By {groups.find(([name]) => name === by)?.[1]}</h2>
      {more && <p class="dim">The 500 that took the most.</p>}
      <Rows list={fixedList(list)} label="Sums" empty={["Nothing", ""]}>
        {(row) => {
          const share = ((totals.cost ?? 0) > 0 ? (row.cost ?? 0) : tokensOf(row)) / (whole || 1)
          return (
            <>
              <i class="share" style={{ width: `${share * 100}%` }} />
              <Line
                to={row.key === null ? undefined : addressOf(by, row.key)}
                title={row.key ?? "none"}
                more={`${row.calls} calls · ${number(row.input)} tokens in${row.cacheRead ? ` (${number(row.cacheRead)} cached)` : ""} · ${number(row.output)} out`}
              />
              <span class="mono">{money(row.cost)}</span>
            </>
          )
        }}
      </Rows>
    </section>
  )
}
