// Counts what came of a load: whether everything that was acknowledged took effect, once, and in order.
import { createHash } from "node:crypto"
import type { User } from "grammy/types"
import type { RecordedRequest } from "../model-server/index.ts"
import { lastPrompt, messagesOf } from "../prompts.ts"
import type { World } from "../world.ts"
import type { LoopFigures } from "./event-loop.ts"
import type { Load } from "./load.ts"

export interface Tally {
  /** Messages and webhooks that were confirmed or answered with 2xx. */
  acknowledged: number
  photos: number
  /** What is missing, one line each: the run, its effect, its answer, its photo. */
  lost: string[]
  /** What took effect or arrived more often than it may. */
  doubled: string[]
  /** Chats in which answers came in another order than their messages. */
  disordered: string[]
  /** Answers that came twice, or whose arrival is not known, as a crash in the middle of a send allows. */
  inDoubt: number
  /** Of the last life; unset where the gateway does not tell. */
  loop?: LoopFigures
}

export interface TallyOptions {
  watch: ModelWatch
  /** Whether a send may have been cut by a crash: then its message may come a second time. */
  crashes: boolean
}

/** What a prompt asks for; the summaries of other runs that stand before it name theirs in other words. */
export const taskOf = (prompt: string) => /please do (job-\w+-\d+)(?![^]*please do)/.exec(prompt)?.[1]

/** What the model was shown, in little: whole requests of a long run would fill the memory. */
export class ModelWatch {
  readonly asked = new Set<string>()
  /** Digests of the pictures of each id's prompts. */
  readonly pictures = new Map<string, { digest: string; bytes: number }[]>()

  /** To be called for each request; the id that it asks for. */
  see(request: RecordedRequest): string | undefined {
    const id = taskOf(lastPrompt(request))
    if (id === undefined) return undefined
    this.asked.add(id)
    const shown = picturesOf(request).map((picture) => ({ digest: digestOf(picture), bytes: picture.length }))
    this.pictures.set(id, [...(this.pictures.get(id) ?? []), ...shown])
    return id
  }
}

const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

export function openWork(world: World): number {
  const sql = `select (select count(*) from job where state in ('ready', 'running')) +
    (select count(*) from outbox where state in ('new', 'sending')) as n`
  return world.rows<{ n: number }>(sql)[0]?.n ?? 0
}

export function tally(world: World, load: Load, options: TallyOptions): Tally {
  const { watch } = options
  const everything = [...load.acknowledged, ...load.chats.flatMap((chat) => chat.ids)]
  const found: Tally = {
    acknowledged: everything.length + load.wakes.length,
    photos: load.photos.size,
    lost: [],
    doubled: [],
    disordered: [],
    inDoubt: 0,
  }
  const texts = load.chats.map((chat) => world.botTexts(chat.person))
  countRuns(world, everything, watch, found)
  countAnswers(world, everything, texts.flat(), options, found)
  countWakes(world, load, found)
  countPhotos(load, watch, found)
  for (const [index, chat] of load.chats.entries()) checkChat(texts[index] ?? [], load, chat, found)
  return found
}

function judge(found: Tally, count: number, what: string): void {
  if (count < 1) found.lost.push(what)
  if (count > 1) found.doubled.push(`${what}: ${count} times`)
}

function countRuns(world: World, everything: readonly string[], watch: ModelWatch, found: Tally): void {
  const jobs = world.rows<{ state: string; payload: string; error: string | null }>(
    "select state, payload, error from job where kind = 'turn'",
  )
  const runs = countBy(jobs.map((job) => /please do (job-\w+-\d+)/.exec(job.payload)?.[1] ?? ""))
  for (const job of jobs) {
    if (job.state !== "done") found.lost.push(`a run is ${job.state}: ${job.error ?? ""} ${job.payload.slice(0, 200)}`)
  }
  const isAnswer = "json_extract(message, '$.role') = 'assistant'"
  const messages = world.rows<{ message: string }>(`select message from message where ${isAnswer}`)
  const transcript = countBy(messages.map((row) => /did (job-\w+-\d+)/.exec(row.message)?.[1] ?? ""))
  for (const id of everything) {
    judge(found, runs.get(id) ?? 0, `the run of ${id}`)
    judge(found, transcript.get(id) ?? 0, `the effect of ${id}`)
    if (!watch.asked.has(id)) found.lost.push(`${id} never came to the model`)
  }
}

function countAnswers(
  world: World,
  everything: readonly string[],
  texts: readonly string[],
  { crashes }: TallyOptions,
  found: Tally,
): void {
  const rows = world.rows<{ payload: string; state: string; resent: number }>(
    "select payload, state, resent from outbox",
  )
  const sends = new Map(rows.map((row) => [/did (job-\w+-\d+)/.exec(row.payload)?.[1] ?? "", row]))
  const copies = countBy(texts.map((words) => /did (job-\w+-\d+)/.exec(words)?.[1] ?? ""))
  for (const id of everything) {
    const row = sends.get(id)
    const arrived = copies.get(id) ?? 0
    // Only a crash in the middle of its send puts a message in doubt; then it may have been repeated, or be missing.
    const doubtful = crashes && (row?.state === "uncertain" || row?.resent === 1)
    if (doubtful && (arrived === 2 || row?.state === "uncertain")) found.inDoubt += 1
    if (arrived > (doubtful ? 2 : 1)) found.doubled.push(`the answer to ${id}: ${arrived} times`)
    if (arrived === 0 && !(doubtful && row?.state === "uncertain")) {
      found.lost.push(`the answer to ${id} (${row ? `${row.state}, resent ${row.resent}` : "no outbox row"})`)
    }
  }
}

/** Each event stands in the prompt of one turn, or still waits for one. */
function countWakes(world: World, load: Load, found: Tally): void {
  const prompts = world.rows<{ data: string }>("select data from step where kind = 'prompt'")
  const shown = countBy(prompts.flatMap((row) => row.data.match(/event-wake-\d+ happened/g) ?? []))
  const waiting = countBy(
    world.rows<{ text: string }>("select text from event where consumed_by is null").map((row) => row.text),
  )
  for (const id of load.wakes) {
    const words = `${id} happened`
    judge(found, (shown.get(words) ?? 0) + (waiting.get(words) ?? 0), `the event ${id}`)
  }
}

/** A picture that the model was shown is the whole one, and the model was shown it. */
function countPhotos(load: Load, watch: ModelWatch, found: Tally): void {
  for (const [id, photo] of load.photos) {
    const shown = watch.pictures.get(id) ?? []
    const whole = digestOf(photo)
    if (shown.length === 0) found.lost.push(`the photo of ${id}`)
    for (const { digest, bytes } of shown) {
      if (digest !== whole) found.lost.push(`the photo of ${id} was shown as another, of ${bytes} bytes`)
    }
  }
}

function picturesOf(request: RecordedRequest): Buffer[] {
  const content = messagesOf(request).findLast((message) => message.role === "user")?.content
  if (!Array.isArray(content)) return []
  return content.flatMap((part) => {
    const { image_url: image } = part as { image_url?: { url?: string } }
    return image?.url === undefined ? [] : [Buffer.from(image.url.replace(/^data:[^,]*,/, ""), "base64")]
  })
}

function checkChat(texts: readonly string[], load: Load, chat: { person: User; ids: string[] }, found: Tally): void {
  checkOrder(texts, "chat", chat.ids, found)
  for (const session of load.sessions) {
    const isHere = (id: string) => id.startsWith(`job-${session}-`) && load.receiverOf(id) === chat.person
    checkOrder(texts, session, load.acknowledged.filter(isHere), found)
  }
}

function checkOrder(texts: readonly string[], kind: string, expected: readonly string[], found: Tally): void {
  const pattern = new RegExp(`^did (job-${kind}-\\d+)$`)
  const seen = texts.flatMap((words) => pattern.exec(words)?.[1] ?? [])
  // A repeat follows what it repeats.
  const order = seen.filter((id, index) => id !== seen[index - 1]).join()
  const due = expected.filter((id) => seen.includes(id)).join()
  if (order !== due) found.disordered.push(`${kind}: ${order} instead of ${due}`)
}

function countBy(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
