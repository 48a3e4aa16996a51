// The schedule of backups beside the gateway. A backup is the command `svc backup create`, in a process of its own.
import { execFile } from "node:child_process"
import { setPriority } from "node:os"
import {
  type BackupSchedule,
  type MadeBackup,
  createBackupSchedule,
  findArchives,
  listBackups,
  originOf,
} from "../backup/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { resolveHome } from "../config/index.ts"
import { AppError, type ErrorBody, toAppError } from "../kernel/index.ts"
import { durationMs } from "../kernel/duration.ts"
import type { Core } from "./core.ts"

/** Of the kernel's -20 to 19: everything else goes first. */
const lowPriority = 10
/** Of many gigabytes on a slow disk. */
const timeoutMs = 12 * 60 * 60_000
const maxOutputBytes = 16 * 1024 * 1024

/** `program` is the file of the command line; without it there is nothing that could make a backup. */
export function composeBackups(core: Core, program: string | undefined): BackupSchedule {
  const { environment, clock, background } = core
  const settings = () => core.config().backup
  return createBackupSchedule({
    everyMs: () => durationMs(settings().every) ?? 0,
    async newest() {
      const folder = backupFolder(core)
      const origin = originOf(environment.stateFolder)
      const own = (await findArchives(folder)).filter((archive) => archive.scheduled && archive.origin === origin)
      return own[0]?.createdAt
    },
    async create(signal, byHand) {
      // What a person begins is told by the door it came through.
      try {
        const made = await runCreate(core, program, { signal, byHand })
        if (!byHand) tellAudit(core, "ok")
        return made
      } catch (error) {
        if (!byHand) tellAudit(core, toAppError(error).code)
        throw error
      }
    },
    clock,
    background,
    log: core.log.child({ part: "backup" }),
  })
}

/** For the API: what lies in the folder, and making one by hand. */
export function backupActions(core: Core, schedule: BackupSchedule): GatewayActions["backups"] {
  return {
    async list(limit, signal) {
      const folder = backupFolder(core)
      const { everyMs, running, failure } = schedule.progress()
      const found = await listBackups(folder, { signal, limit: limit + 1 })
      return { folder, everyMs, running, failure, backups: found.slice(0, limit), more: found.length > limit }
    },
    begin: () => schedule.begin(),
  }
}

function backupFolder({ environment, config }: Core): string {
  return resolveHome(config().backup.folder ?? "backups", environment.home, environment.stateFolder)
}

interface Making {
  signal: AbortSignal
  byHand: boolean
}

function tellAudit({ audit }: Core, outcome: string): void {
  const who = { kind: "gateway", id: "", name: "gateway" } as const
  audit.record({ door: "gateway", who, action: "backup.create", target: "schedule", outcome })
}

async function runCreate(core: Core, program: string | undefined, making: Making): Promise<MadeBackup> {
  if (program !== undefined) return await runCommand(core, program, making)
  throw new AppError("backup-failed", "This gateway was not started by the command svc, which makes the backups")
}

function runCommand({ environment }: Core, program: string, { signal, byHand }: Making): Promise<MadeBackup> {
  const how = byHand ? [] : ["--scheduled"]
  const words = ["backup", "create", ...how, "--json", "--state-dir", environment.stateFolder]
  const env = { ...environment.variables, SVC_CONFIG_PATH: environment.configPath }
  return new Promise((resolve, reject) => {
    const limits = { signal, timeout: timeoutMs, maxBuffer: maxOutputBytes }
    const child = execFile(process.execPath, [program, ...words], { env, ...limits }, (error, stdout, stderr) => {
      const answer = parse(stdout)
      if (!error && answer && "archive" in answer) resolve(answer)
      else if (answer && "error" in answer) reject(new AppError("backup-failed", told(answer)))
      else reject(new AppError("backup-failed", lastLine(stderr), { cause: error }))
    })
    if (child.pid !== undefined) lower(child.pid)
  })
}

function lower(pid: number): void {
  try {
    setPriority(pid, lowPriority)
  } catch (error) {
    // It may have ended already.
    if ((error as NodeJS.ErrnoException).code !== "ERR_SYSTEM_ERROR") throw error
  }
}

function parse(text: string): MadeBackup | ErrorBody | undefined {
  try {
    return JSON.parse(text) as MadeBackup | ErrorBody
  } catch {
    return undefined
  }
}

function told({ error }: ErrorBody): string {
  return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) || "svc backup create ended without a word"
}
