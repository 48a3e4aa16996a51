// The commands `svc backup ...`. They work on the files, beside a running gateway or without one; the parts that do the
// work are loaded when a command runs.
import type { Command } from "commander"
import { loadConfigFile, readEnvironment, resolveHome, type Variables } from "../config/index.ts"
import { AppError, systemClock, systemIds } from "../kernel/index.ts"
import type { BackupEntry, BackupFacts, OpenWork, Progress, RestoreReport, Unsent } from "./contract.ts"

/** What the commands need of the program around them. */
export interface BackupCommandIo {
  /** One or more lines for people. */
  print(text: string): void
  printJson(value: unknown): void
  /** Progress, on stderr. */
  note(text: string): void
  table(headings: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string
  time(milliseconds: number): string
  variables: Variables
  version: string
  /** Aborted by Ctrl-C. */
  interrupted(): AbortSignal
  /** `--json` and `--state-dir`. */
  addOptions(command: Command): void
  addExamples(command: Command, ...lines: string[]): void
}

interface CommonOptions {
  json?: true
  stateDir?: string
}

export function registerBackupCommands(program: Command, io: BackupCommandIo): void {
  const backup = program.command("backup").description("Make, check, list and restore backups of the state folder")
  addCreate(backup, io)
  addVerify(backup, io)
  addList(backup, io)
  addRestore(backup, io)
  io.addExamples(backup, "svc backup create", "svc backup restore latest --to ~/.svc-restored")
}

interface Place {
  stateFolder: string
  configPath: string
  variables: Variables
  folder: string
  keep: number
}

/** The folder of the configuration, also when the rest of that has errors: a backup is wanted most when things are broken. */
function placeOf(io: BackupCommandIo, options: CommonOptions): Place {
  const stateDir = options.stateDir
  const variables = { ...io.variables, ...(stateDir === undefined ? {} : { SVC_STATE_DIR: stateDir }) }
  const { stateFolder, configPath, home } = readEnvironment(variables)
  const loaded = loadConfigFile({ path: configPath, env: variables, missingVariables: "leave-out" })
  const settings = loaded.kind === "ok" ? loaded.snapshot.config.backup : undefined
  if (loaded.kind === "invalid") {
    io.note("the configuration has errors (svc config validate): backups are looked for in the state folder")
  }
  const folder = resolveHome(settings?.folder ?? "backups", home, stateFolder)
  return { stateFolder, configPath, variables, folder, keep: settings?.keep ?? Number.MAX_SAFE_INTEGER }
}

function addCreate(backup: Command, io: BackupCommandIo): void {
  const create = backup
    .command("create")
    .description("Make a backup, also while the gateway runs, and read it back")
    .option("--folder <dir>", "where to put it (default: backup.folder, else backups in the state folder)")
    .option("--scheduled", "as the gateway's schedule does: older scheduled ones beyond backup.keep are removed")
    .action(async (options: CommonOptions & { folder?: string; scheduled?: true }) => {
      const { createBackup } = await import("./create.ts")
      const { keep, ...place } = placeOf(io, options)
      const folder = options.folder === undefined ? place.folder : resolveHome(options.folder, homeOf(io))
      const report = await createBackup({
        ...place,
        folder,
        version: io.version,
        ...(options.scheduled ? { scheduled: { keep } } : {}),
        clock: systemClock,
        ids: systemIds,
        ...watch(io),
      })
      if (options.json) return io.printJson(report)
      io.print(`${describeFacts(io, report)}\nread back: every file and the database are whole`)
      for (const line of report.leftOut) io.note(`left out: ${line}`)
      if (report.removed.length > 0) io.note(`removed ${report.removed.length} older scheduled backups`)
    })
  io.addOptions(create)
  io.addExamples(create, "svc backup create", "svc backup create --folder /mnt/disk/backups")
}

function addVerify(backup: Command, io: BackupCommandIo): void {
  const verify = backup
    .command("verify")
    .description("Check a backup: every file against its hash, the database by SQLite, whether this release knows it")
    .argument("[archive]", "path, name as in the list, or latest", "latest")
    .action(async (wanted: string, options: CommonOptions) => {
      const { verifyBackup } = await import("./verify.ts")
      const facts = await verifyBackup(await find(io, options, wanted), watch(io))
      if (options.json) return io.printJson(facts)
      io.print(`${describeFacts(io, facts)}\nevery file and the database are whole`)
    })
  io.addOptions(verify)
  io.addExamples(verify, "svc backup verify latest")
}

function addList(backup: Command, io: BackupCommandIo): void {
  const list = backup
    .command("list")
    .description("List the backups of the backup folder, newest first")
    .action(async (options: CommonOptions) => {
      const { listBackups } = await import("./list.ts")
      const { folder } = placeOf(io, options)
      const items = await listBackups(folder, { signal: io.interrupted() })
      if (options.json) return io.printJson({ folder, items })
      if (items.length === 0) return io.print(`no backups in ${folder}`)
      io.print(
        io.table(
          ["Made", "Size", "Files", "Release", "By", "Archive"],
          items.map((item) => row(io, item)),
        ),
      )
      for (const { archive, problem } of items) if (problem !== undefined) io.note(`${archive}: ${problem}`)
    })
  io.addOptions(list)
  io.addExamples(list, "svc backup list --json")
}

function row(io: BackupCommandIo, item: BackupEntry): (string | number | null)[] {
  const by = item.scheduled ? "schedule" : "hand"
  return [io.time(item.createdAt), megabytes(item.bytes), item.files, item.version ?? "unreadable", by, item.archive]
}

interface RestoreWords extends CommonOptions {
  to: string
  replace?: true
  openWork: string
  unsent: string
}

function addRestore(backup: Command, io: BackupCommandIo): void {
  const restore = backup
    .command("restore")
    .description("Make a state folder of a backup, and say what will be repeated and what will not")
    .argument("<archive>", "path, name as in the list, or latest")
    .requiredOption("--to <folder>", "the state folder to be: new or empty")
    .option("--replace", "set a state folder that stands there aside, under another name beside it")
  restore
    .addOption(
      restore
        .createOption("--open-work <what>", "accepted work that was not finished: run it again, or hold it for good")
        .choices(["run", "hold"])
        .default("run"),
    )
    .addOption(
      restore
        .createOption("--unsent <what>", "messages that were not sent: mark them in doubt (ask), or send them")
        .choices(["ask", "send"])
        .default("ask"),
    )
    .action(async (wanted: string, options: RestoreWords) => {
      const { restoreBackup } = await import("./restore.ts")
      const report = await restoreBackup({
        archive: await find(io, options, wanted),
        to: resolveHome(options.to, homeOf(io)),
        replace: options.replace === true,
        openWork: options.openWork as OpenWork,
        unsent: options.unsent as Unsent,
        clock: systemClock,
        ids: systemIds,
        ...watch(io),
      })
      const { describeRestore } = await import("./describe.ts")
      const notes = describeRestore(report)
      if (options.json) return io.printJson({ ...report, notes })
      io.print([`restored to ${report.folder}`, describeFacts(io, report), "", ...notes].join("\n"))
    })
  io.addOptions(restore)
  io.addExamples(
    restore,
    "svc backup restore latest --to ~/.svc-restored",
    "svc backup restore latest --to ~/.svc --replace",
  )
}

async function find(io: BackupCommandIo, options: CommonOptions, wanted: string): Promise<string> {
  const { resolveArchive } = await import("./folder.ts")
  return await resolveArchive(placeOf(io, options).folder, wanted)
}

function homeOf(io: BackupCommandIo): string {
  return readEnvironment(io.variables).home
}

/** A line when a step begins, then one a second at most. */
function watch(io: BackupCommandIo): { progress: Progress; signal: AbortSignal } {
  const stop = io.interrupted()
  const stopped = new AbortController()
  stop.addEventListener("abort", () => stopped.abort(new AppError("aborted", "stopped; nothing was left behind")))
  let lastStep = ""
  let lastAt = 0
  const progress: Progress = (step, done = 0, total = 0) => {
    const now = performance.now()
    if (step === lastStep && now - lastAt < 1_000) return
    lastAt = now
    const amount = total > 1024 * 1024 && lastStep === step ? `: ${megabytes(done)} of ${megabytes(total)}` : ""
    lastStep = step
    io.note(`${step}${amount}`)
  }
  return { progress, signal: stopped.signal }
}

function describeFacts(io: BackupCommandIo, facts: BackupFacts | RestoreReport): string {
  const counts = Object.entries(facts.counts).map(([name, count]) => `${words(name)} ${count}`)
  return [
    facts.archive,
    `made ${io.time(facts.createdAt)} by svc ${facts.version}, ${megabytes(facts.bytes)}, ${facts.files} files`,
    counts.join(", "),
  ].join("\n")
}

function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function megabytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
