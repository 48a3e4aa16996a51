// Now: how everything is, what runs, what waits for a person, what today has taken.
import { call, stopRun } from "../api.ts"
import { link } from "../router.ts"
import { may } from "../session.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Badge, Button, Card, Empty, Facts } from "../ui/parts.tsx"
import { Time, grouped } from "../ui/time.tsx"
import type { Reply } from "../api.ts"

type Status = Reply<"GET /api/status">

export default function Now() {
  const status = useAsked("status", () => call("GET /api/status"), {
    topics: ["run", "waiting", "delivery"],
    everyMs: 10_000,
  })
  const known = status.known
  return (
    <div class="cards">
      <Card title="Parts">{known ? <Parts status={known} /> : <Pending of={status} />}</Card>
      {may("admin") && <InFlight />}
      {known && <Failures status={known} again={status.again} />}
      {known && <Today status={known} />}
    </div>
  )
}

const partNames: Record<string, string> = {
  chatapp: "Chat",
  gateway: "Gateway",
  store: "Store",
  agent: "Agent",
  browser: "Browser",
}

function Parts({ status }: { status: Status }) {
  const { parts, problems, model, configProblem, store } = status
  const all = [
    ...problems,
    ...(configProblem === undefined
      ? []
      : [{ part: "configuration", problem: configProblem, next: "svc config validate" }]),
    ...(store.problem === undefined ? [] : [{ part: "store", problem: store.problem }]),
    ...(model.error === undefined ? [] : [{ part: "model", problem: model.error, next: "svc models list" }]),
    ...(model.warnings ?? []).map((problem) => ({ part: "model", problem })),
  ]
  return (
    <>
      <ul class="parts">
        {Object.entries(parts).map(([part, state]) => (
          <li key={part}>
            {partNames[part] ?? part} <Badge state={state} />
          </li>
        ))}
        <li>
          Model <span class="dim">{model.id ?? "none"}</span>
        </li>
      </ul>
      {all.map(({ part, problem, ...rest }) => (
        <div class="problem" key={part + problem}>
          <p>
            <strong>{partNames[part] ?? part}:</strong> {problem}
          </p>
          {"next" in rest && rest.next !== undefined && <p class="dim">{rest.next}</p>}
        </div>
      ))}
    </>
  )
}

function InFlight() {
  const runs = useAsked(
    "in flight",
    async () =>
      (
        await Promise.all([
          call("GET /api/runs", { query: { state: "running" } }),
          call("GET /api/runs", { query: { state: "ready", limit: 20 } }),
        ])
      ).flatMap(({ items }) => items),
    { topics: ["run"] },
  )
  const pause = useAsked("pause", () => call("GET /api/pause"), { topics: ["run"], everyMs: 5_000 })
  const paused = pause.known?.paused
  const items = runs.known
  const turn = async () => {
    await call(paused ? "POST /api/resume" : "POST /api/pause")
    await pause.again()
  }
  if (!items) return null
  return (
    <Card
      title="In flight"
      actions={
        pause.known && (
          <Button act={turn} icon={paused ? "play" : "pause"} kind={paused ? "main" : "plain"}>
            {paused ? "Resume" : "Pause all"}
          </Button>
        )
      }
    >
      {paused && (
        <p class="problem">
          Everything is paused since <Time at={paused.at} />, by {paused.by}. What comes in waits.
        </p>
      )}
      {items.length === 0 && !paused && <Empty title="Nothing runs">Write to the agent, or send it a webhook.</Empty>}
      <ul class="lines">
        {items.map(({ runId, kind, session, state, startedAt, createdAt }) => (
          <li key={runId}>
            <a href={link("runs", runId)}>
              {kind} <span class="dim">{session}</span>
            </a>
            <Badge state={state} />
            <Time at={startedAt ?? createdAt} />
            <Button
              act={() => stopRun(runId).then(runs.again)}
              done="Stopped"
              icon="stop"
              label={`Stop ${kind} of ${session}`}
            >
              Stop
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Failures({ status, again }: { status: Status; again: () => Promise<void> }) {
  const { jobs, outbox, events, waiting } = status
  const asked: [string, number, string][] = [
    ["Questions of the agent", waiting.approvals, link("approvals") + "?state=asked"],
    ["People who ask to be let in", waiting.pairing, link("people")],
  ]
  const failed: [string, number, string][] = [
    ["Runs that failed", jobs.dead, link("runs") + "?state=dead"],
    ["Messages in doubt", outbox.uncertain, link("messages") + "?state=uncertain"],
    ["Messages not sent", outbox.dead, link("messages") + "?state=dead"],
    ["Events that no model took", events.setAside, link("runs")],
  ]
  const failures = failed.filter(([, count]) => count > 0)
  const open = [...asked.filter(([, count]) => count > 0), ...failures]
  return (
    <Card
      title="Wants a look"
      actions={
        failures.length > 0 &&
        may("admin") && (
          <Button
            act={() => call("POST /api/status/dismiss").then(again)}
            sure={["Dismiss these failures?", "They stay in their lists, and count no more here."]}
          >
            Dismiss
          </Button>
        )
      }
    >
      {open.length === 0 && (
        <Empty title="Nothing waits for you">Failures of the last seven days would stand here.</Empty>
      )}
      <ul class="lines">
        {open.map(([words, count, address]) => (
          <li key={words}>
            <a href={address}>{words}</a>
            <strong>{count}</strong>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Today({ status }: { status: Status }) {
  const { usage, memoryMb, startedAt, backup, jobs, outbox } = status
  const today = usage.today
  return (
    <Card title="Today">
      <Facts
        rows={[
          ["Model calls", today.calls],
          ["Tokens in", today.input !== null && grouped(today.input)],
          ["Tokens out", today.output !== null && grouped(today.output)],
          ["Cost", today.cost === null ? "unknown" : `$${today.cost.toFixed(4)}`],
          ["Waiting runs", jobs.ready],
          ["Messages to send", outbox.new + outbox.sending],
          ["Memory", `${memoryMb} MB`],
          ["Started", <Time at={Date.parse(startedAt)} />],
          ["Last backup", backup?.last ? <Time at={backup.last.createdAt} /> : undefined],
        ]}
      />
    </Card>
  )
}
