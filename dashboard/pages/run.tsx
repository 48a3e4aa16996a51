// The story of one run: how it came in and why, what it was shown, what the model said and did, what was sent.
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { type Reply, call, send } from "../api.ts"
import { link } from "../router.ts"
import { on } from "../stream.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Back, Badge, Button, Code, Copy, Facts, Failure, Json, More } from "../ui/parts.tsx"
import { Time, duration } from "../ui/time.tsx"
import { toast } from "../ui/toast.tsx"

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
  const known = asked.value.value
  if (!known) return <Pending of={asked} />
  const { run, story } = known
  const stop = async () => {
    await call("POST /api/runs/:runId/stop", { params })
    toast("Stopped")
  }
  const isOpen = run.state === "running" || run.state === "ready"
  return (
    <>
      <Back to={link("runs")} words="All runs" />
      <div class="head">
        <h2>
          {run.kind} <Badge state={run.state} />
        </h2>
        {isOpen && (
          <Button act={stop} icon="stop" kind="danger">
            Stop
          </Button>
        )}
      </div>
      <Facts
        rows={[
          ["Run", <Id id={run.runId} />],
          ["Session", <a href={`${link("runs")}?session=${encodeURIComponent(run.session)}`}>{run.session}</a>],
          ["Waited", run.startedAt === null ? undefined : duration(run.startedAt - run.createdAt)],
          [
            "Took",
            run.startedAt === null || run.finishedAt === null ? undefined : duration(run.finishedAt - run.startedAt),
          ],
          ["Attempts", run.attempts > 1 ? run.attempts : undefined],
          ["Log", <a href={`${link("logs")}?text=${runId}`}>Lines of this run</a>],
        ]}
      />
      {run.error !== null && <Failure error={new Error(run.error)} />}
      <Timeline run={run} story={story} />
    </>
  )
}

function Id({ id }: { id: string }) {
  return (
    <>
      <code>{id}</code> <Copy text={id} what="the id of the run" />
    </>
  )
}

interface Moment {
  at: number
  key: string
  title: ComponentChildren
  body: ComponentChildren
}

function Timeline({ run, story }: { run: Detail; story: Story }) {
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
    ...run.steps.map((step) => describeStep(run, step)),
    ...story.calls.map(describeCall),
    ...story.approvals.map(({ id, state, text, askedAt }): Moment => ({
      at: askedAt,
      key: id,
      title: (
        <>
          Asked an owner <Badge state={state} />
        </>
      ),
      body: <p>{text}</p>,
    })),
    ...story.messages.map(describeMessage),
    ...(run.finishedAt === null
      ? []
      : [
          {
            at: run.finishedAt,
            key: "end",
            title: (
              <>
                Ended <Badge state={run.state} />
              </>
            ),
            body: null,
          },
        ]),
  ].sort((a, b) => a.at - b.at)
  return (
    <ol class="timeline">
      {moments.map(({ at, key, title, body }) => (
        <li key={key}>
          <h3>
            {title}
            <span class="dim mono" title={new Date(at).toLocaleString()}>
              +{duration(Math.max(0, at - run.createdAt))}
            </span>
          </h3>
          {body}
        </li>
      ))}
    </ol>
  )
}

function arrival(run: Detail, { arrival: from, takenIn }: Story): Moment {
  const title =
    from === null ? (
      "Began by itself"
    ) : (
      <>
        Came in{" "}
        <small class="dim">
          {from.source} {from.account}
        </small>
      </>
    )
  return {
    at: from?.receivedAt ?? run.createdAt,
    key: "in",
    title,
    body: (
      <>
        <Facts
          rows={[
            ["When", <Time at={run.createdAt} both />],
            ["Let in by", from?.rule],
            ["Delivery", from?.hook ? <a href={link("webhooks", from.hook)}>webhook {from.hook}</a> : from?.deliveryId],
            [
              "Answered with it",
              takenIn.length === 0
                ? undefined
                : takenIn.map((id) => (
                    <a key={id} href={link("runs", id)}>
                      {id.slice(-8)}{" "}
                    </a>
                  )),
            ],
          ]}
        />
        <More title="Input">
          <Json value={run.input} what="the input" />
        </More>
      </>
    ),
  }
}

interface Data {
  text?: string
  model?: string
  toolCalls?: { id: string; name: string; input?: unknown; arguments?: unknown }[]
  message?: { content: Part[] }
  content?: Part[]
  toolName?: string
  isError?: boolean
  tainted?: boolean
  foreign?: unknown
}
interface Part {
  type: string
  text?: string
}

const wordsOf = (parts: Part[] | undefined) => (parts ?? []).map(({ text }) => text ?? "").join("\n")

function describeStep(run: Detail, { n, kind, createdAt, data }: Step): Moment {
  const step = data as Data
  const marks = (step.tainted || step.foreign) && <Badge state="words of others" tone="warn" />
  const moment = (title: ComponentChildren, body: ComponentChildren): Moment => ({
    at: createdAt,
    key: `s${n}`,
    title: (
      <>
        {title} {marks}
      </>
    ),
    body,
  })
  if (kind === "prompt")
    return moment(
      "Prompt",
      <More title="What the model was shown">
        <Code text={wordsOf(step.message?.content)} what="the prompt" />
      </More>,
    )
  if (kind === "assistant") {
    return moment(
      <>
        Model <small class="dim">{step.model}</small>
      </>,
      <>
        {step.text !== undefined && step.text !== "" && <Code text={step.text} what="the model's words" />}
        {step.toolCalls?.map((tool) => (
          <More
            key={tool.id}
            open
            title={
              <>
                Calls <strong>{tool.name}</strong>
              </>
            }
          >
            <Json value={tool.input ?? tool.arguments ?? {}} what={`the input of ${tool.name}`} />
          </More>
        ))}
      </>,
    )
  }
  if (kind === "tool-result") {
    const hasPicture = step.content?.some(({ type }) => type === "image")
    return moment(
      <>
        Result of {step.toolName} {step.isError && <Badge state="failed" />}
      </>,
      <>
        <Code text={wordsOf(step.content)} what={`the result of ${step.toolName ?? "a tool"}`} />
        {hasPicture && <Picture address={`/api/runs/${run.runId}/pictures/${n}`} />}
      </>,
    )
  }
  if (kind === "tool-start") return moment("Tool begins", null)
  return moment(kind, <Json value={data} what={kind} />)
}

/** Fetched, because a plain image would come without the page's key. */
function Picture({ address }: { address: string }) {
  const source = useSignal("")
  useEffect(() => {
    let url = ""
    send(address).then(
      async (response) => {
        url = URL.createObjectURL(await response.blob())
        source.value = url
      },
      () => undefined,
    )
    return () => URL.revokeObjectURL(url)
  }, [address])
  return source.value === "" ? null : <img class="picture" src={source.value} alt="What the tool saw at that moment" />
}

function describeCall({ at, model, ms, input, output, cacheRead, cost }: Story["calls"][number]): Moment {
  const parts = [
    ms === null ? undefined : duration(ms),
    input === null ? undefined : `${input.toLocaleString()} tokens in`,
    output === null ? undefined : `${output.toLocaleString()} out`,
    cacheRead ? `${cacheRead.toLocaleString()} from the cache` : undefined,
    cost === null ? "cost unknown" : `$${cost.toFixed(4)}`,
  ]
  return {
    at,
    key: `c${at}${model}`,
    title: <>Answer of {model}</>,
    body: <p class="dim">{parts.filter(Boolean).join(" · ")}</p>,
  }
}

function describeMessage({
  id,
  channel,
  chatId,
  kind,
  state,
  createdAt,
  error,
  preview,
}: Story["messages"][number]): Moment {
  return {
    at: createdAt,
    key: `m${id}`,
    title: (
      <>
        Message <Badge state={state} />
      </>
    ),
    body: (
      <>
        <p>
          <a href={link("messages", id)}>{kind}</a>{" "}
          <span class="dim">
            to {channel} {chatId}
          </span>
        </p>
        <p class="cut dim">{error ?? preview}</p>
      </>
    ),
  }
}
