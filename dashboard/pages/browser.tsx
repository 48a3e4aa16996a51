// Browser: the profiles with their tabs; of one tab the live picture, and beside it what the agent reads of it, whose refs
// light up in the picture.
import { useEffect } from "../ui/hooks.ts"
import { CallError, type Reply, call } from "../api.ts"
import type { LiveLine } from "../../src/gateway/endpoints/index.ts"
import { pauseAfter, readStream } from "../read-stream.ts"
import { go, link, place } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Field, bound } from "../ui/form.tsx"
import { Badge, Button, Card, Copy, Empty, Facts, Failure, Head, OfOthers } from "../ui/parts.tsx"
import { type Signal, useSignal } from "../ui/signals.ts"

type Profile = Reply<"GET /api/browser">["profiles"][number]
type Snapshot = Reply<"GET /api/browser/snapshot">
type Frame = Extract<LiveLine, { image: string }>

export default function Browser() {
  const [, profile, targetId] = place.current.path
  if (profile === undefined || targetId === undefined) return <Profiles />
  return <Tab key={profile + targetId} profile={profile} targetId={targetId} />
}

function Profiles() {
  const asked = useAsked("browser", () => call("GET /api/browser"), { everyMs: 3_000 })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  if (!known.enabled) return <Empty title="Browser control is switched off">Set browser.enabled to true.</Empty>
  return (
    <div class="cards">
      {known.profiles.map((profile) => (
        <ProfileCard key={profile.name} profile={profile} again={asked.again} />
      ))}
    </div>
  )
}

const kinds = { managed: "a browser of its own", remote: "elsewhere", relay: "tabs of your own browser" }

function ProfileCard({ profile, again }: { profile: Profile; again: () => Promise<void> }) {
  const { name, kind, running, isDefault, tabs, problem } = profile
  const turn = async () => {
    await call(running ? "POST /api/browser/stop" : "POST /api/browser/start", { body: { profile: name } })
    await again()
  }
  return (
    <Card
      title={name}
      actions={
        <Button act={turn} icon={running ? "stop" : "play"} label={`${running ? "Stop" : "Start"} ${name}`}>
          {running ? "Stop" : "Start"}
        </Button>
      }
    >
      <p>
        <Badge state={running ? "running" : "stopped"} /> {kinds[kind]}
        {isDefault && <span class="dim"> · used by default</span>}
      </p>
      {problem !== null && <Failure error={problem} />}
      {running && tabs.length === 0 && <p class="dim">No tabs</p>}
      <ul class="lines">
        {tabs.map(({ targetId, title, url, guest }) => (
          <li key={targetId}>
            <a href={link("browser", name, targetId)}>
              <span class="cut">{title || "No title"}</span>
              <small class="cut dim">{url}</small>
            </a>
            {guest && <OfOthers />}
            <Button
              act={() => call("POST /api/browser/close", { body: { profile: name, targetId } }).then(again)}
              icon="close"
              label={`Close ${title || url}`}
            >
              {null}
            </Button>
          </li>
        ))}
      </ul>
      {running && <Open profile={name} />}
    </Card>
  )
}

function Open({ profile }: { profile: string }) {
  const url = useSignal("")
  const open = async () => {
    const { targetId } = await call("POST /api/browser/open", { body: { profile, url: url.current } })
    go(link("browser", profile, targetId))
  }
  return (
    <div class="with-button">
      <Field label="Address" of={bound(url.current, (value) => (url.current = value.trim()))} />
      <Button act={open} disabled={url.current === ""} label={`Open in ${profile}`}>
        Open
      </Button>
    </div>
  )
}

function Tab({ profile, targetId }: { profile: string; targetId: string }) {
  const frame = useSignal<Frame | undefined>(undefined)
  const problem = useSignal<unknown>(undefined)
  const round = useSignal(0)
  const lit = useSignal("")
  const snapshot = useAsked(targetId, () => call("GET /api/browser/snapshot", { query: { profile, targetId } }), {
    everyMs: 86_400_000,
  })
  useEffect(() => {
    const control = new AbortController()
    problem.current = undefined
    watch(profile, targetId, control.signal, {
      take: (line) => showLine(line, frame, problem),
      lost: (error) => (problem.current = error),
    }).then(
      () => (problem.current ??= new Error("The tab is closed")),
      (error: unknown) => control.signal.aborted || (problem.current = error),
    )
    return () => control.abort()
  }, [profile, targetId, round.current])
  const takeOver = async () => {
    const made = await call("POST /api/browser/takeovers", { body: { profile, targetId } })
    // Where this page is reached, the link is too.
    const { pathname, search, hash } = new URL(made.url)
    location.assign(pathname + search + hash)
  }
  const { url, title } = frame.current ?? { url: "", title: "" }
  return (
    <>
      <Head back={["browser", "All tabs"]} title={title || "No title"}>
        <Button act={snapshot.again} icon="again">
          Read again
        </Button>
        <Button act={takeOver} kind="main">
          Take over
        </Button>
      </Head>
      <Facts
        rows={[
          ["Profile", profile],
          [
            "Address",
            url !== "" && (
              <>
                {url}
                <Copy text={url} what="the address" />
              </>
            ),
          ],
        ]}
      />
      {problem.current !== undefined && <Failure error={problem.current} retry={() => (round.current += 1)} />}
      <div class="live-tab">
        <Picture
          frame={frame.current}
          snapshot={snapshot.known}
          lit={lit.current}
          light={(ref) => (lit.current = ref)}
        />
        {snapshot.known ? (
          <Lines text={snapshot.known.text} lit={lit.current} light={(ref) => (lit.current = ref)} />
        ) : (
          <Pending of={snapshot} />
        )}
      </div>
    </>
  )
}

/** What may be looked at again is no problem any more. */
export function showLine(line: LiveLine, frame: Signal<Frame | undefined>, problem: Signal<unknown>): void {
  if ("image" in line) frame.current = line
  problem.current = "image" in line ? undefined : new Error(line.hidden)
}

interface Lighting {
  lit: string
  light: (ref: string) => void
}

function Picture({
  frame,
  snapshot,
  lit,
  light,
}: { frame: Frame | undefined; snapshot: Snapshot | undefined } & Lighting) {
  const scrolled = useSignal<Frame | undefined>(undefined)
  // Boxes count from where the page was scrolled to when it was read.
  useEffect(() => void (scrolled.current = frame), [snapshot])
  if (!frame) return <p class="dim">Waiting for a picture…</p>
  const { width, height, image, scrollX, scrollY } = frame
  const from = scrolled.current ?? frame
  const moved = { x: from.scrollX - scrollX, y: from.scrollY - scrollY }
  const boxes = snapshot?.url === frame.url ? snapshot.boxes : {}
  const box = boxes[lit]
  const percent = (value: number, of: number) => `${(value / of) * 100}%`
  const find = (event: MouseEvent) => {
    const { left, top, width: shown } = (event.currentTarget as Element).getBoundingClientRect()
    const x = ((event.clientX - left) * width) / shown - moved.x
    const y = ((event.clientY - top) * width) / shown - moved.y
    const hit = Object.entries(boxes)
      .filter(([, one]) => x >= one.x && y >= one.y && x <= one.x + one.width && y <= one.y + one.height)
      .sort(([, a], [, b]) => a.width * a.height - b.width * b.height)
    light(hit[0]?.[0] ?? "")
  }
  return (
    <div class="cast" onMouseMove={find} onClick={find}>
      <img src={`data:image/jpeg;base64,${image}`} width={width} height={height} alt="The tab as it is now" />
      {box && (
        <span
          class="lit"
          style={{
            left: percent(box.x + moved.x, width),
            top: percent(box.y + moved.y, height),
            width: percent(box.width, width),
            height: percent(box.height, height),
          }}
        />
      )}
    </div>
  )
}

/** As the agent reads it. */
function Lines({ text, lit, light }: { text: string } & Lighting) {
  return (
    <ul class="snapshot" aria-label="What the agent reads">
      {text.split("\n").map((line, index) => {
        const ref = /\[ref=(\w+)\]/.exec(line)?.[1]
        return (
          <li key={index}>
            {ref === undefined ? (
              <span>{line}</span>
            ) : (
              <button
                type="button"
                aria-pressed={ref === lit}
                onFocus={() => light(ref)}
                onMouseEnter={() => light(ref)}
                onClick={() => light(ref)}
                ref={(element) => void (ref === lit && element?.scrollIntoView({ block: "nearest" }))}
              >
                {line}
              </button>
            )}
          </li>
        )
      })}
    </ul>
  )
}

interface Watching {
  take(line: LiveLine): void
  /** Why nothing comes; it is begun anew by itself. */
  lost(error: unknown): void
}

/** Resolves when the tab is closed; rejects when the gateway does not show it, or with the signal. */
export async function watch(
  profile: string,
  targetId: string,
  signal: AbortSignal,
  { take, lost }: Watching,
): Promise<void> {
  let tries = 0
  const show = (lines: string[]) => {
    tries = 0
    // Of frames that come at once, the newest.
    const last = lines.findLast((line) => line !== "")
    if (last !== undefined) take(JSON.parse(last) as LiveLine)
  }
  const query = new URLSearchParams({ profile, targetId })
  for (;;) {
    try {
      return await readStream(`/api/browser/live?${query}`, { signal, end: "\n", take: show })
    } catch (error) {
      if (signal.aborted || (error instanceof CallError && error.status > 0)) throw error
      lost(error)
    }
    await pauseAfter(tries)
    tries += 1
  }
}
