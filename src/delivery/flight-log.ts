// What is on its way to the platform, beside the store: a line when a call begins, a line when its answer has come. A
// process that was killed leaves the file as it was, so the next start knows which of the rows in `sending` were never
// called and which had been answered; only calls that were cut stay in doubt. Not synced: a line costs microseconds. After
// the operating system itself has gone down the file may lack its end, and then only answers count.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { z } from "zod"
import { AppError, describeError } from "../kernel/index.ts"
import type { OutboxRow } from "../store/index.ts"

/** Told of a row that was being sent when a process ended. */
export type FlightEnd =
  /** No request was made. */
  | { kind: "not-begun" }
  | { kind: "sent"; remoteId?: string | undefined }
  /** The platform has refused it, or it never left. */
  | { kind: "not-sent" }
  | { kind: "in-doubt" }

type Flight = Pick<OutboxRow, "id" | "attempts">

const line = z.union([
  z.object({ boot: z.string().nullable() }),
  z.object({ row: z.number(), attempt: z.number(), begun: z.literal(true) }),
  z.object({
    row: z.number(),
    attempt: z.number(),
    end: z.enum(["sent", "not-sent", "in-doubt"]),
    remoteId: z.string().optional(),
  }),
])

/** When nothing is on its way, a longer file is begun anew. */
const maxBytes = 256 * 1024

export class FlightLog {
  readonly #file: number
  readonly #ends: Map<string, FlightEnd>
  readonly #isWhole: boolean
  #open = 0
  #isClosed = false
  #bytes = 0

  /** Reads what the process before has left, then begins anew with `clear`. */
  constructor(path: string) {
    try {
      const { ends, isWhole } = read(path)
      this.#ends = ends
      this.#isWhole = isWhole
      this.#file = openSync(path, "a", 0o600)
    } catch (error) {
      throw new AppError("storage-failed", `${path} cannot be read and written: ${describeError(error)}`, {
        cause: error,
        hint: "Correct its rights, or move it away and start again: what was being sent at the end counts as in doubt then",
      })
    }
  }

  endOf({ id, attempts }: Flight): FlightEnd {
    return this.#ends.get(`${id}:${attempts}`) ?? { kind: this.#isWhole ? "not-begun" : "in-doubt" }
  }

  /** What was left has been settled in the store: from here on the file tells of this process. */
  clear(): void {
    this.#ends.clear()
    ftruncateSync(this.#file)
    this.#bytes = 0
    this.#write({ boot: bootOfSystem() })
  }

  /** Right before the call. Throws when it cannot be noted; then there must be no call. */
  begin({ id, attempts }: Flight): void {
    if (this.#open === 0 && this.#bytes > maxBytes) this.clear()
    this.#write({ row: id, attempt: attempts, begun: true })
    this.#open += 1
  }

  /** The answer has come. One that cannot be noted is a doubt after a crash, no more. */
  end({ id, attempts }: Flight, end: Exclude<FlightEnd, { kind: "not-begun" }>): void {
    const remoteId = end.kind === "sent" && end.remoteId !== undefined ? { remoteId: end.remoteId } : {}
    try {
      this.#write({ row: id, attempt: attempts, end: end.kind, ...remoteId })
    } catch {
      return
    }
  }

  /** Its end is in the store. */
  recorded(): void {
    this.#open -= 1
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#file)
  }

  #write(entry: z.input<typeof line>): void {
    // Begun on a line of its own, whatever a full disk has left of the one before.
    const text = `\n${JSON.stringify(entry)}`
    const written = writeSync(this.#file, text)
    this.#bytes += written
    // The end of a full disk takes a part and says nothing: the same as what it says from then on.
    if (written < text.length) throw Object.assign(new Error("ENOSPC: no space left for a line"), { code: "ENOSPC" })
  }
}

function read(path: string): { ends: Map<string, FlightEnd>; isWhole: boolean } {
  const ends = new Map<string, FlightEnd>()
  let boot: string | null = null
  for (const text of readLines(path)) {
    const entry = parse(text)
    if (!entry) continue
    if ("boot" in entry) boot = entry.boot
    else if ("begun" in entry) ends.set(`${entry.row}:${entry.attempt}`, { kind: "in-doubt" })
    else ends.set(`${entry.row}:${entry.attempt}`, { kind: entry.end, remoteId: entry.remoteId })
  }
  return { ends, isWhole: boot !== null && boot === bootOfSystem() }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}

/** Undefined for a line that was cut or damaged. */
function parse(text: string): z.output<typeof line> | undefined {
  try {
    return line.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Changes when the operating system starts anew; null where that is not known. */
function bootOfSystem(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    return null
  }
}
