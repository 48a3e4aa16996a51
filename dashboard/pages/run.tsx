// The story of one run: how it came in and why, what it was shown, what the model said and did, what was asked and sent.
import type { ComponentChildren } from "preact"
import { useEffect } from "../ui/hooks.ts"
import { type Reply, call, stopRun } from "../api.ts"
import { once } from "../once.ts"
import { on } from "../stream.ts"
import { go, link } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { confirm } from "../ui/confirm.tsx"
import {
  Badge,
  Button,
  Code,
  Copy,
  Facts,
  Failure,
  Head,
  Json,
  More,
  OfOthers,
  type Tone,
  toneOf,
} from "../ui/parts.tsx"
import { Picture } from "../ui/picture.tsx"
import { duration, exact, grouped, when } from "../ui/time.tsx"

type Detail = Reply<"GET /api/runs/:runId">
type Story = Reply<"GET /api/runs/:runId/story">
type Step = Detail["steps"][number]

export function Run({ runId }: { runId: string }) {
  const params = { runId }
  const asked = useAsked(
    runId,
    async () => {
      const [run, story] = await Promise.all([
        call("GET /api/runs/:runId", { params }),
        call("GET /api/runs/:runId/story", { params }),
      ])
      return { run, story }
    },
    { topics: ["approval"], everyMs: 60_000 },
  )
  useEffect(() => {
    const look = (entry: { runId?: string | null }) => entry.runId === runId && void asked.again()
    const ends = ["run", "step", "delivery"].map((topic) => on(topic, look))
    return () => ends.forEach((end) => end())
  }, [asked])
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const { run, story } = known
  const isOpen = run.state === "running" || run.state === "ready"
  return (
    <>
      <Head back={["runs", "All runs"]} title={(run.kind !== "heartbeat" && run.asked) || run.kind}>
        {isOpen ? (
          <Button act={() => stopRun(runId)} done="Stopped" icon="stop" kind="danger">
            Stop
          </Button>
        ) : (
          run.kind === "turn" && (
            <Button act={() => runAgain(runId)} icon="again">
              Run again
            </Button>
          )
        )}
      </Head>
      <Facts
        rows={[
          ["State", <Badge state={run.state} />],
          ["Kind", run.kind],
          ["Session", <a href={`${link("runs")}?session=${encodeURIComponent(run.session)}`}>{run.session}</a>],
          ["Waited", run.startedAt !== null && duration(run.startedAt - run.createdAt)],
          ["Took", run.startedAt !== null && run.finishedAt !== null && duration(run.finishedAt - run.startedAt)],
          ["Attempts", run.attempts > 1 && run.attempts],
          ["Repeats", story.again && <RunLink id={story.again.runId} />],
          ["Repeated by", story.repeats.length > 0 && story.repeats.map((id) => <RunLink key={id} id={id} />)],
          ["Log", <a href={`${link("logs")}?text=${runId}`}>Its lines</a>],
          ["Id", <Id id={run.runId} />],
        ]}
      />
      {run.error !== null && <Failure error={run.error} />}
      <Timeline run={run} story={story} isOver={!isOpen} />
    </>
  )
}

async function runAgain(runId: string, step?: number): Promise<void> {
  const yes = await confirm({
    title: step === undefined ? "Run this again?" : "Run again from this step?",
    text: "It is a new run in the same session. What it does may be done twice: messages, orders, files.",
    action: "Run again",
  })
  if (!yes) return
  const next = await repeat(runId, step)
  go(link("runs", next.runId))
}

export const repeat = (runId: string, step: number | undefined) =>
  once(`again ${runId} ${step}`, (key) => {
    const body = step === undefined ? { key } : { step, key }
    return call("POST /api/runs/:runId/again", { params: { runId }, body })
  })

function RunLink({ id }: { id: string }) {
  return <a href={link("runs", id)}>{id.slice(-12)} </a>
}

function Id({ id }: { id: string }) {
  return (
    <>
      <code>{id}</code>
      <Copy text={id} what="the id of the run" />
    </>
  )
}

interface Moment {
  at: number
  key: string
  tone?: Tone | undefined
  title: ComponentChildren
  action?: ComponentChildren
  body?: ComponentChildren
}

function Timeline({ run, story, isOver }: { run: Detail; story: Story; isOver: boolean }) {
  const calls = [...story.calls]
  const inputs = new Map<string, Call>()
  const moments = [
    arrival(run, story),
    ...story.events.map(({ id, origin, createdAt, text }): Moment => ({
      at: createdAt,
      key: `e${id}`,
      title: (
        <>
          Event shown <small class="dim">from {origin}</small>
        </>
      ),
      body: <Code text={text} what="the event" />,
    })),
    ...run.steps.flatMap((step): Moment[] => {
      if (step.kind === "assistant") return [modelStep(run, step, calls, inputs, isOver)]
      if (step.kind === "tool-result") return [toolResult(run, step, inputs)]
      return step.kind === "tool-start" ? [] : [otherStep(step)]
    }),
    // Those that no step came of: attempts that failed, and calls for something else.
    ...calls.map((one): Moment => ({
      at: one.at,
      key: `c${one.at}${one.model}`,
      title: (
        <>
          Model asked <small class="dim">{costOf(one)}</small>
        </>
      ),
    })),
    ...story.approvals.map(({ id, state, text, askedAt }): Moment => ({
      at: askedAt,
      key: id,
      tone: "warn",
      title: (
        <>
          <a href={link("approvals", id)}>Asked an owner</a> <Badge state={state} />
        </>
      ),
      body: <p>{text}</p>,
    })),
    ...story.messages.map(sentMessage),
    ...(run.finishedAt === null ? [] : [ending(run, isOver)]),
  ].sort((a, b) => a.at - b.at)
  return (
    <ol class="timeline">
      {moments.map(({ at, key, tone, title, action, body }) => (
        <li key={key} class={tone}>
          <h3>
            {title}
            <span class="dim mono" title={exact(at)}>
              {action} +{duration(Math.max(0, at - run.createdAt))}
            </span>
          </h3>
          {body}
        </li>
      ))}
    </ol>
  )
}

function arrival(run: Detail, { arrival: from, takenIn, again }: Story): Moment {
  return {
    at: Math.min(from?.receivedAt ?? run.createdAt, run.createdAt),
    key: "in",
    title:
      again !== null ? (
        <>
          Asked for again{" "}
          <small class="dim">{again.step === undefined ? "from the start" : `from step ${again.step}`}</small>
        </>
      ) : from === null ? (
        "Began by itself"
      ) : (
        <>
          Came in <small class="dim">by {from.source}</small>
        </>
      ),
    body: (
      <>
        <Facts
          rows={[
            ["When", when(run.createdAt)],
            ["Let in by", from?.rule],
            ["Webhook", from?.hook && <a href={link("webhooks", from.hook)}>{from.hook}</a>],
            ["Delivery", from?.hook || again ? "" : from?.deliveryId],
            ["Answered with it", takenIn.length > 0 && takenIn.map((id) => <RunLink key={id} id={id} />)],
          ]}
        />
        <More title="Input">
          <Json value={run.input} what="the input" />
        </More>
      </>
    ),
  }
}

interface Part {
  type: string
  text?: string
}
interface Call {
  id: string
  name: string
  input?: unknown
}
interface Data {
  text?: string
  model?: string
  failedBefore?: { model: string; reason: string }[]
  toolCalls?: Call[]
  message?: { content: Part[] }
  content?: Part[]
  callId?: string
  toolName?: string
  isError?: boolean
  foreign?: unknown
}

const wordsOf = (parts: Part[] | undefined) => (parts ?? []).map(({ text }) => text ?? "").join("\n")
const marked = (step: Data) => step.foreign !== undefined && <OfOthers />

function modelStep(
  run: Detail,
  { n, createdAt, data }: Step,
  calls: Story["calls"],
  inputs: Map<string, Call>,
  isOver: boolean,
): Moment {
  const step = data as Data
  // Its call was written down in the moment before it.
  const index = calls.findLastIndex(({ at, purpose }) => at <= createdAt + 20 && purpose !== "compact")
  const [own] = index < 0 ? [] : calls.splice(index, 1)
  for (const one of step.toolCalls ?? []) inputs.set(one.id, one)
  return {
    at: createdAt,
    key: `s${n}`,
    tone: "busy",
    title: (
      <>
        Model <small class="dim">{own === undefined ? step.model : costOf(own)}</small>
      </>
    ),
    body: (
      <>
        {step.failedBefore?.map(({ model, reason }) => (
          <p key={model}>
            {model} failed: {reason}
          </p>
        ))}
        {step.text && <Code text={step.text} what="the model's words" />}
        {step.toolCalls?.[0] && <p>Calls {step.toolCalls.map(({ name }) => name).join(", ")}</p>}
      </>
    ),
    action: isOver && <AgainFrom run={run} step={n} />,
  }
}

function AgainFrom({ run, step }: { run: Detail; step: number }) {
  return (
    <Button act={() => runAgain(run.runId, step)} icon="again" label={`Again from here: step ${step}`}>
      Again from here
    </Button>
  )
}

function toolResult(run: Detail, { n, createdAt, data }: Step, inputs: ReadonlyMap<string, Call>): Moment {
  const step = data as Data
  const input = inputs.get(step.callId ?? "")?.input
  const { action, kind } = (input ?? {}) as { action?: unknown; kind?: unknown }
  return {
    at: createdAt,
    key: `s${n}`,
    tone: step.isError ? "bad" : "good",
    title: (
      <>
        {step.toolName}
        <small class="dim">{[action, kind].filter((word) => typeof word === "string").join(" ")}</small>
        {step.isError && <Badge state="failed" />}
        {marked(step)}
      </>
    ),
    body: (
      <>
        {input !== undefined && (
          <More title="Input">
            <Json value={input} what={`the input of ${step.toolName}`} />
          </More>
        )}
        <Code text={wordsOf(step.content)} what={`the result of ${step.toolName}`} />
        {step.content?.some(({ type }) => type === "image") && (
          <Picture address={`/api/runs/${run.runId}/pictures/${n}`} alt="What the tool saw at that moment" />
        )}
      </>
    ),
  }
}

function otherStep({ n, kind, createdAt, data }: Step): Moment {
  const step = data as Data
  const isPrompt = kind === "prompt"
  return {
    at: createdAt,
    key: `s${n}`,
    title: (
      <>
        {isPrompt ? "Shown to the model" : kind} {marked(step)}
      </>
    ),
    body: (
      <More title={isPrompt ? "The whole prompt" : "What came"}>
        <Code text={wordsOf(step.message?.content)} what={isPrompt ? "the prompt" : "what came"} />
      </More>
    ),
  }
}

/** Where the model has failed there is no step of it to go on from, but the place behind the last. */
function ending(run: Detail, isOver: boolean): Moment {
  const last = run.steps.at(-1)
  const isAnswered = last?.kind === "assistant" && (last.data as Data).toolCalls?.length === 0
  const mayGoOn = isOver && run.kind === "turn" && last !== undefined && !isAnswered
  return {
    at: run.finishedAt as number,
    key: "end",
    tone: run.state === "done" ? "good" : "bad",
    title: (
      <>
        Ended <Badge state={run.state} />
      </>
    ),
    action: mayGoOn && <AgainFrom run={run} step={last.n + 1} />,
  }
}

function costOf({ model, ms, input, output, cacheRead, cost }: Story["calls"][number]): string {
  const parts = [
    model,
    ms !== null && duration(ms),
    input !== null && `${grouped(input)} tokens in`,
    cacheRead && `${grouped(cacheRead)} of them cached`,
    output !== null && `${grouped(output)} out`,
    cost === null ? "cost unknown" : `$${cost.toFixed(4)}`,
  ]
  return parts.filter(Boolean).join(" · ")
}

function sentMessage(message: Story["messages"][number]): Moment {
  const { id, channel, chatId, kind, state, createdAt, error, preview } = message
  return {
    at: createdAt,
    key: `m${id}`,
    tone: toneOf(state),
    title: (
      <>
        <a href={link("messages", id)}>Message</a>
        <small class="dim">
          {kind} to {channel} {chatId}
        </small>
        <Badge state={state} />
      </>
    ),
    body: <p class="cut dim">{error ?? preview}</p>,
  }
}
