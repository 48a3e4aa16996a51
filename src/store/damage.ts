// Damage that a statement met: nothing more is accepted -> a thread looks for what is damaged -> indexes alone are made
// anew while writers wait, and work goes on; a damaged table is named with the way out, and stays as it is.
import { AppError, type Log, describeError } from "../kernel/index.ts"
import { type Findings, inspectInThread } from "./inspect-database.ts"

export interface DamageWatch {
  /** A statement met damage. Cheap when it is known already. */
  met(error: unknown): void
  /** What is damaged and what to do; undefined while nothing is. */
  problem(): string | undefined
  stop(): void
}

export interface DamageOptions {
  path: string
  log: Log
  /** Does the work while nobody writes. */
  hold: <T>(work: () => Promise<T>) => Promise<T>
  /** Takes the log over into the database, once everything is found to be sound: a log that was cut survives no start. */
  checkpoint: () => Promise<void>
  /** Everything works again. */
  onRepaired: () => void
}

/** Rebuilding more often shows that it is no help. */
const maxRepairs = 3

export function createDamageWatch(options: DamageOptions): DamageWatch {
  const ended = new AbortController()
  let problem: string | undefined
  let repairs = 0

  const examine = async () => {
    const outcome = await repairIndexes(options, ended.signal, repairs < maxRepairs)
    if (ended.signal.aborted) return
    if (outcome.kind === "damaged") {
      problem = outcome.problem
      options.log.error({ problem, found: outcome.found }, "store damaged")
      return
    }
    await options.checkpoint().catch((error: unknown) => options.log.warn({ err: error }, "store log not taken over"))
    repairs += 1
    problem = undefined
    if (outcome.rebuilt.length > 0) options.log.warn({ indexes: outcome.rebuilt }, "store repaired: indexes made anew")
    else options.log.warn("store checked: no damage was found")
    options.onRepaired()
  }
  return {
    met(error) {
      if (problem !== undefined || ended.signal.aborted) return
      problem = "Damage was met and is being looked for; nothing is accepted meanwhile"
      options.log.error({ err: error }, "store damage met: nothing is accepted until it is found")
      examine().catch((failure: unknown) => {
        problem = `Damage was met, and looking for it failed: ${describeError(failure)}. ${wayOut}`
      })
    },
    problem: () => problem,
    stop: () => ended.abort(),
  }
}

export type Repair = { kind: "sound"; rebuilt: string[] } | { kind: "damaged"; problem: string; found: string[] }

/** Makes damaged indexes anew where that is all there is, and looks once more. */
export async function repairIndexes(
  { path, hold }: Pick<DamageOptions, "path" | "hold">,
  signal: AbortSignal,
  mayRebuild = true,
): Promise<Repair> {
  const first = await inspectInThread({ path, rebuild: [] }, signal)
  if (isSound(first)) return { kind: "sound", rebuilt: [] }
  const rebuild = first.indexes
  if (!mayRebuild || first.error !== undefined || first.tables.length > 0) return damaged(first)
  const second = await hold(() => inspectInThread({ path, rebuild }, signal))
  return isSound(second) ? { kind: "sound", rebuilt: second.rebuilt } : damaged(second)
}

export function storageDamaged(problem: string, cause?: unknown): AppError {
  return new AppError("storage-damaged", problem, { cause, retryAfterSeconds: 60, hint: wayOut })
}

export const wayOut =
  "Stop the gateway and restore a backup, or save what you need from svc.db and start with: svc gateway --new-store (it sets the damaged file aside)"

function isSound(findings: Findings): boolean {
  return findings.error === undefined && findings.problems.length === 0
}

function damaged({ tables, indexes, problems, error }: Findings): Repair {
  const names = [...tables.map((name) => `table ${name}`), ...indexes.map((name) => `index ${name}`)]
  const what = names.length > 0 ? names.join(", ") : "svc.db"
  const why = error === undefined ? "" : ` (${error})`
  return { kind: "damaged", problem: `Damaged: ${what}${why}. ${wayOut}`, found: problems.slice(0, 20) }
}
