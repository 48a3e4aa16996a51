// What comes from the page -> who is meant -> one durable entry: the message as people see it, and the turn or command
// that it begins. The route is fixed here; the same id is taken in once, however often it is sent.
import { type TurnInput, turnJob, turnJobKind } from "../../agent/turn-input.ts"
import { droppedText, keepToCap } from "../../agent/queue/index.ts"
import { resendJob } from "../../delivery/doubt.ts"
import { AppError, type Ids, type Json, isJsonObject } from "../../kernel/index.ts"
import type { Origin, Route } from "../../sessions/index.ts"
import { mainKey } from "../../sessions/index.ts"
import { type IngestEntry, type NewJob, type Store, type Write, isRunning, openJobs } from "../../store/index.ts"
import { commandJob, findCommand, planTyped, readCommand } from "../commands/index.ts"
import { type QueueSettings, queuedBy } from "../queue.ts"
import { type WebAccepted, type WebClick, type WebSaying, webAccount, webChannel } from "./contract.ts"
import type { WebFiles } from "./files.ts"
import { type Place, type PlaceOptions, placeOf, routeOf } from "./place.ts"
import { planReply } from "./sender.ts"
import { type KeptMessage, type NewMessage, findMessage, messageRow } from "./store.ts"
import { asker, wordsInput } from "./words.ts"

export interface IntakeOptions extends PlaceOptions {
  store: Store
  ids: Ids
  files: WebFiles
  isModel: (name: string) => boolean
  /** `session.resetTriggers`. */
  resetWords: () => readonly string[]
  /** What holds for messages that come while a turn of this session runs. */
  queueOf: (sessionKey: string) => QueueSettings
  /** Where the agent was last heard from. */
  lastRoute: (sessionKey: string) => Route | null
  rememberRoute: (write: Write, sessionKey: string, agentId: string, route: Route) => void
  /** The time of now, as the model is shown it. */
  now: () => { ms: number; text: string }
}

export class WebIntake {
  readonly #options: IntakeOptions

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  /** Durable when it resolves. Throws `bad-request`, `not-found`. */
  async say({ id, chat, text, files, replyTo }: WebSaying): Promise<WebAccepted> {
    const { store, ids, isModel, resetWords, now } = this.#options
    const place = placeOf(this.#options, chat)
    const earlier = this.#earlier(id)
    if (earlier) return earlier
    if (text.trim() === "" && files.length === 0) throw new AppError("bad-request", "There is nothing to send")
    const kept = await Promise.all(files.map((file) => this.#options.files.find(file)))
    const answered = replyTo === undefined ? undefined : findMessage(store, place.sessionKey, replyTo)
    const call = { ...place, route: routeOf(place.sessionKey, id), sender: asker }
    const isTurnRunning = () => isRunning(store, place.sessionKey, turnJobKind)
    const typed =
      kept.length > 0
        ? { jobs: [], rest: text }
        : planTyped(text, { ids, isModel, call, resetWords: resetWords(), isTurnRunning })
    const { ms: sentAt, text: timeText } = now()
    const jobs = [...typed.jobs]
    if (typed.rest !== undefined) {
      const said = { place, ref: id, text: typed.rest, files: kept, answered, sentAt, timeText }
      jobs.push(this.#turn(await wordsInput(said)))
    }
    return await this.#take(id, place, jobs, {
      text,
      files: kept.map(({ name, mediaType, bytes, stored }) => ({ name, mediaType, bytes, stored })),
      ...(answered && replyTo !== undefined ? { replyTo } : {}),
    })
  }

  /** A touched button counts for no more than the turn that made it. Throws `not-found`, `conflict`. */
  async click({ id, chat, message, row, column }: WebClick): Promise<WebAccepted> {
    const { store, ids, now } = this.#options
    const place = placeOf(this.#options, chat)
    const earlier = this.#earlier(id)
    if (earlier) return earlier
    const kept = findMessage(store, place.sessionKey, message)
    const button = kept?.buttons[row]?.[column]
    if (!kept || !button) {
      throw new AppError("not-found", "This button is not there any more", { hint: "Write what you want instead" })
    }
    const route = routeOf(place.sessionKey, id)
    const runId = ids.uuid()
    if (button.handler !== undefined) return await this.#take(id, place, [resendJob(runId, button.data, route)])
    if (button.runs) return await this.#take(id, place, [commandOf(runId, button.data, place, route)])
    const key = `click:${webChannel}:${message}:${row}:${column}`
    const isWaiting = openJobs(store, place.sessionKey).some((job) => job.join_key === key && job.state === "ready")
    if (isWaiting) throw new AppError("conflict", "This button was pressed already, and waits its turn")
    const input = clickInput({ place, route, kept, value: button.data, time: now() })
    const job: NewJob = { ...turnJob(runId, input), join: { key, holdMs: 0, maxHoldMs: 0 } }
    // What stands on the button are the words of the turn that made it, also where the press stands in the chat.
    const whose = { origin: input.origin, trusted: input.trusted ? 1 : 0 }
    return await this.#take(id, place, [job], { text: button.text, files: [], replyTo: message, ...whose })
  }

  /** What the first message of this id was answered. */
  #earlier(id: string): WebAccepted | undefined {
    const row = this.#options.store.handle
      .prepare("select answer from inbox where source = ? and account = ? and delivery_id = ?")
      .get(webChannel, webAccount, id) as { answer: string | null } | undefined
    return row && repeated(row.answer === null ? null : (JSON.parse(row.answer) as Json))
  }

  #turn(input: TurnInput): NewJob {
    const { store, ids, queueOf } = this.#options
    const isOpen = openJobs(store, input.sessionKey).some(({ kind }) => kind === turnJobKind)
    if (!isOpen) return turnJob(ids.uuid(), input)
    const { rule, hold } = queuedBy(`${webChannel}:${input.sessionKey}`, queueOf(input.sessionKey))
    return turnJob(ids.uuid(), { ...input, queue: rule }, hold)
  }

  /** Without `shown` nothing of it stands in the chat. */
  async #take(
    id: string,
    place: Place,
    jobs: NewJob[],
    shown?: Pick<NewMessage, "text" | "files" | "replyTo"> & Partial<Pick<NewMessage, "origin" | "trusted">>,
  ): Promise<WebAccepted> {
    const { store, now } = this.#options
    const runId = jobs.at(-1)?.runId ?? ""
    const chat = place.sessionKey
    const answer = { chat, runId }
    const message: NewMessage | undefined = shown && {
      origin: "owner",
      trusted: 1,
      ...shown,
      chat,
      ref: id,
      side: "in",
      runId,
    }
    const entry: IngestEntry = {
      source: webChannel,
      account: webAccount,
      deliveryId: id,
      payload: { rule: "signed-in" },
      answer,
      jobs,
      rows: message ? [messageRow(message, now().ms)] : [],
    }
    const [result] = await store.ingestBatch([entry], async (write) => {
      this.#remember(write, place)
      for (const job of jobs) this.#keepToCap(write, job)
    })
    return result?.kind === "duplicate" ? repeated(result.answer) : answer
  }

  #keepToCap(write: Write, { kind, payload }: NewJob): void {
    const input = kind === turnJobKind ? (payload as unknown as TurnInput) : undefined
    const dropped = input && keepToCap(this.#options.store, write, input)
    if (!input?.queue || !input.route || !dropped?.isFirst) return
    for (const row of planReply(input.route, { text: droppedText(input.queue), media: [] })) write.addOutbox(row)
  }

  /** The page takes `last` from no chat platform: whoever has one is reached there, page or no page. */
  #remember(write: Write, { agentId, sessionKey }: Place): void {
    const { lastRoute, rememberRoute } = this.#options
    if (sessionKey !== mainKey(agentId)) return
    const last = lastRoute(sessionKey)
    if (last === null || last.channel === webChannel) rememberRoute(write, sessionKey, agentId, routeOf(sessionKey))
  }
}

function repeated(answer: Json | null): WebAccepted {
  if (answer !== null && isJsonObject(answer)) {
    const { chat, runId } = answer
    if (typeof chat === "string" && typeof runId === "string") return { chat, runId, isRepeat: true }
  }
  throw new AppError("conflict", "This id was used before, for something else", { hint: "Take another id" })
}

function commandOf(runId: string, value: string, place: Place, route: Route): NewJob {
  const read = readCommand(value, { botName: undefined })
  const command = read.kind === "command" ? findCommand(read.name) : undefined
  if (read.kind !== "command" || !command) throw new AppError("not-found", "There is no such command any more")
  return commandJob(runId, command, { ...place, command: command.name, args: read.args, route, sender: asker })
}

interface Clicked {
  place: Place
  route: Route
  kept: KeptMessage
  value: string
  time: { ms: number; text: string }
}

function clickInput({ place, route, kept, value, time }: Clicked): TurnInput {
  const maker = kept.provenance
  const isOwn = maker?.trusted === true
  // Rows that do not say whose words they hold count as others'.
  const origin: Origin = isOwn ? "owner" : ((maker?.origin ?? "model") as Origin)
  const foreign = isOwn ? "" : `, what it says comes from a turn with words of others (${origin})`
  return {
    ...place,
    purpose: "chat",
    origin,
    trusted: isOwn,
    header: `[the gateway's page, private chat, button of message ${kept.id} pressed, from the owner${foreign}, ${time.text}]`,
    ...(isOwn ? {} : { about: { buttonBy: origin } }),
    text: `callback_data: ${value}`,
    mentioned: true,
    askedBy: asker,
    sentAt: time.ms,
    route,
  }
}
