// Files that a turn did not wait for. The turn goes on without them; each such message leaves a job, in a lane of its own,
// which fetches on for an hour and then begins a turn that shows them: turn -> late job -> files -> turn.
import { type TurnInput, turnJob } from "../../../agent/turn-input.ts"
import type { Clock, Ids, Json, Log } from "../../../kernel/index.ts"
import { type JobEnd, type JobHandler, JobPostponed, type JobRow, type Store, openJobs } from "../../../store/index.ts"
import type { RemoteFile } from "../inbound/content/index.ts"
import type { Pending } from "../inbound/said.ts"
import { channelName } from "../settings.ts"
import type { Fetched } from "./download.ts"

export const lateFilesJobKind = "late-files"

/** The platform may be down for a while; after that the sender has sent it again or forgotten it. */
const giveUpAfterMs = 60 * 60_000
/** And not before so many tries, most of them a minute apart: a clock that is set makes nothing old. */
const leastTries = 40
const pauseMs = { least: 2_000, most: 60_000 }

/** Types and not interfaces: they are kept as JSON. */
type LateFiles = { input: TurnInput }
/** What the turn that shows them has to fetch: there is no other turn after it. */
export type LatePending = Pending & { isLate?: true }

export interface LateParts {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  /** What has become of each; undefined while it is under way. */
  fetch: (account: string, files: readonly RemoteFile[], signal: AbortSignal) => Promise<(Fetched | undefined)[]>
}

/**
 * Durable when it resolves, and once for each message that asks: a turn that begins again after a crash changes nothing.
 * While the same files are fetched for another message of the conversation, they come with that one.
 */
export async function fetchLater(
  { store, ids }: Pick<LateParts, "store" | "ids">,
  input: TurnInput,
  files: readonly RemoteFile[],
): Promise<void> {
  const { route } = input
  if (!route) return
  const names = files.map(({ uniqueId }) => uniqueId).join(",")
  const carried = `${route.chatId}:${files[0]?.messageId ?? 0}:${names}`
  const laneKey = `${input.sessionKey}:late-files:${carried}`
  if (openJobs(store, laneKey).length > 0) return
  const payload: LateFiles = { input: lateInput(input, files) }
  await store.ingest({
    source: `${channelName}-late-files`,
    account: route.account,
    // Asked again after it was given up, by an answer to the message that carries them.
    deliveryId: `${route.messageId ?? ""}:${carried}`,
    payload: null,
    jobs: [
      {
        runId: ids.uuid(),
        kind: lateFilesJobKind,
        laneKey,
        payload: payload as unknown as Json,
        // Turns keep their places: this one waits for others most of the time.
        urgent: true,
      },
    ],
  })
}

/** As if the sender had sent the files alone: who asks, where to and how far to trust it stay as they were. */
function lateInput(input: TurnInput, files: readonly RemoteFile[]): TurnInput {
  const { context: _said, join: _joined, ref: _edited, media: _shown, sticker: _known, header = "", ...others } = input
  const { queue: _waited, steered: _seen, ...rest } = others
  const note = "[files of this earlier message that could not be fetched in time are here now]"
  return {
    ...rest,
    header: header === "" ? note : `${header}\n${note}`,
    text: files.map(({ kind }) => `<media:${kind}>`).join("\n"),
    pending: { files: [...files], isLate: true } satisfies LatePending as Json,
  }
}

export function createLateFiles(parts: LateParts): JobHandler {
  const { clock, ids, log } = parts
  return {
    async run(job, signal) {
      const { input } = JSON.parse(job.payload) as LateFiles
      const { files } = input.pending as Pending
      const outcomes = await parts.fetch(input.route?.account ?? "", files, signal)
      const isOpen = outcomes.some((outcome) => !outcome || isUnreachable(outcome))
      if (isOpen && ((await countTry(parts.store, job)) < leastTries || isYoung(job, clock)))
        throw new JobPostponed(nextTry(job, clock), "a file cannot be fetched yet")
      const isAnyKept = outcomes.some((outcome) => outcome?.kind === "kept")
      log.info({ session: input.sessionKey, files: files.length, isAnyKept }, "late files")
      if (isAnyKept) return { commit: async (write) => void write.addJob(turnJob(ids.uuid(), input)) }
      return end(input, files)
    },
    async onDead(job, _error, write) {
      const { input } = JSON.parse(job.payload) as LateFiles
      await end(input, (input.pending as Pending).files).commit?.(write)
    },
  }
}

function end(input: TurnInput, files: readonly RemoteFile[]): JobEnd {
  const kinds = files.map(({ kind }) => kind).join(", ")
  const text = `A file of an earlier message (${kinds}) could not be fetched. Ask the sender to send it again.`
  const event = { sessionKey: input.sessionKey, text, origin: "system", trusted: true }
  return { commit: async (write) => write.addEvent(event) }
}

async function countTry(store: Store, job: JobRow): Promise<number> {
  return await store.write(async (write) => {
    const row = write
      .prepare(
        `update job set payload = json_set(payload, '$.tries', coalesce(json_extract(payload, '$.tries'), 0) + 1)
         where id = ? returning json_extract(payload, '$.tries') as tries`,
      )
      .get(job.id)
    return Number(row?.["tries"] ?? 0)
  })
}

function isYoung(job: JobRow, clock: Clock): boolean {
  return clock.now() - job.created_at < giveUpAfterMs
}

function nextTry(job: JobRow, clock: Clock): number {
  const age = Math.max(0, clock.now() - job.created_at)
  return clock.now() + Math.round(Math.min(Math.max(age / 4, pauseMs.least), pauseMs.most))
}

export function isUnreachable(outcome: Fetched): boolean {
  return outcome.kind === "left-out" && outcome.why === "unreachable"
}
