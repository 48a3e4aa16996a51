// A pause of everything: nothing starts until it ends, what runs is put back between two of its steps, and messages are still
// taken in. It is a row, so a restart changes nothing. Whoever writes meanwhile is told once that the message waits.
import { type TurnInput, turnJobKind } from "../agent/index.ts"
import type { ChannelSender } from "../delivery/contract.ts"
import type { GatewayActions, Problem } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import type { Route } from "../sessions/index.ts"
import type { LaneRunner, Write } from "../store/index.ts"
import type { Core } from "./core.ts"

export interface PauseState {
  /** Milliseconds since the epoch. */
  at: number
  /** Who has asked for it: `chat:<id>`, `gateway`. */
  by: string
}

interface KeptPause extends PauseState {
  /** Newest job whose chat was looked at. */
  seen: number
  /** Chats that were told. */
  told: string[]
}

export interface Pause {
  load(): Promise<void>
  state(): PauseState | undefined
  /** False when it was so already. */
  begin(by: string): Promise<boolean>
  /** How many runs waited; undefined when nothing was paused. */
  end(by: string): Promise<number | undefined>
}

export interface PauseParts {
  runner: () => LaneRunner
  senders: () => ReadonlyMap<string, ChannelSender>
}

const metaKey = "paused"
/** More chats than that are not told one by one. */
const mostTold = 500
const lookedAt = 100

export function createPause(core: Core, parts: PauseParts): Pause {
  const { store, background, log } = core
  /** As the row has it: changed when that is committed, and by nothing else. */
  let kept: KeptPause | undefined
  const change = async (work: (write: Write, now: KeptPause | undefined) => KeptPause | undefined): Promise<void> => {
    kept = await store.write(async (write) => {
      const now = readRow(write)
      const next = work(write, now)
      if (next !== now) keepRow(write, next)
      return next
    })
  }
  const tellOfPause = () => void background.run("tell of the pause", () => change(tellWaiting))
  store.onAdded(({ jobs }) => {
    if (jobs && kept) tellOfPause()
  })

  const tellWaiting = (write: Write, now: KeptPause | undefined): KeptPause | undefined => {
    if (!now) return now
    const rows = write
      .prepare("select id, payload from job where id > ? and kind = ? order by id limit ?")
      .all(now.seen, turnJobKind, lookedAt)
    if (rows.length === 0) return now
    const told = new Set(now.told)
    for (const row of rows) {
      const input = JSON.parse(String(row["payload"])) as TurnInput
      const place = placeOf(input)
      if (place === undefined || told.has(place) || told.size >= mostTold) continue
      told.add(place)
      const { route } = input as TurnInput & { route: Route }
      const hint = input.origin === "owner" ? " Go on with /resume." : ""
      const text = `I am paused. Your message is kept and waits.${hint}`
      for (const each of parts.senders().get(route.channel)?.plan(route, { text, media: [] }) ?? [])
        write.addOutbox(each)
    }
    return { ...now, seen: Number(rows.at(-1)?.["id"]), told: [...told] }
  }

  return {
    async load() {
      kept = (await store.meta.get(metaKey)) as unknown as KeptPause | undefined
      if (kept) log.warn({ since: new Date(kept.at).toISOString(), by: kept.by }, "everything is paused")
    },
    state: () => kept && { at: kept.at, by: kept.by },
    async begin(by) {
      if (kept) return false
      await change((write) => {
        const newest = write.prepare("select max(id) as id from job").get()
        return { at: write.now, by, seen: Number(newest?.["id"] ?? 0), told: [] }
      })
      log.warn({ by }, "everything is paused")
      parts.runner().wake()
      // Of what was taken in while the pause was on its way to the disk, nobody was told of a pause yet.
      tellOfPause()
      return true
    },
    async end(by) {
      if (!kept) return undefined
      let waiting = 0
      await change((write) => {
        const row = write
          .prepare("select count(*) as n from job where state = 'ready' and head = 1 and urgent = 0")
          .get()
        waiting = Number(row?.["n"] ?? 0)
        return undefined
      })
      log.warn({ by, waiting }, "the pause is over")
      parts.runner().wake()
      return waiting
    },
  }
}

function readRow({ prepare }: Write): KeptPause | undefined {
  const row = prepare("select value from meta where key = ?").get(metaKey)
  return row === undefined ? undefined : (JSON.parse(String(row["value"])) as KeptPause)
}

function keepRow({ prepare }: Write, next: KeptPause | undefined): void {
  if (next === undefined) prepare("delete from meta where key = ?").run(metaKey)
  else {
    prepare("insert into meta (key, value) values (?, ?) on conflict do update set value = excluded.value").run(
      metaKey,
      JSON.stringify(next),
    )
  }
}

/** Where somebody waits for an answer; undefined where nobody does, or a group only talks. */
function placeOf({ purpose, route, mentioned }: TurnInput): string | undefined {
  if (purpose !== "chat" || route === null) return undefined
  if (route.chatKind !== "private" && mentioned !== true) return undefined
  return `${route.channel} ${route.account} ${route.chatId}`
}

export function pauseActions(pause: Pause): GatewayActions["pause"] {
  return {
    look: () => ({ paused: pause.state() ?? null }),
    async begin() {
      await pause.begin("gateway")
      return { paused: pause.state() ?? null }
    },
    async end() {
      const waiting = await pause.end("gateway")
      if (waiting === undefined) {
        throw new AppError("conflict", "Nothing is paused", { hint: "What runs and what waits: svc status" })
      }
      return { waiting }
    },
  }
}

/** For `svc status`. */
export function pauseProblems(pause: Pause): Problem[] {
  const state = pause.state()
  if (!state) return []
  const since = new Date(state.at).toISOString().slice(0, 16).replace("T", " ")
  return [{ part: "agent", problem: `everything is paused since ${since} UTC (by ${state.by})`, next: "svc resume" }]
}
