// The command `svc update`, and what a new version is asked by the old one: `svc update migrate`.
import type { Command } from "commander"
import { AppError } from "../kernel/index.ts"
import type { Runner, UpdateParts, UpdateReport } from "./contract.ts"
import { describeBack, settleInterrupted, update } from "./update.ts"

export interface UpdateWords {
  json?: true
  stateDir?: string
  config?: string
  from: string
  force?: true
  check?: true
  system?: true
  name: string
  background?: true
  keep?: true
  back?: true
}

/** What the commands need of the program around them. */
export interface UpdateCommandIo {
  print(text: string): void
  printJson(value: unknown): void
  /** Progress, on stderr. */
  note(text: string): void
  /** Finds the program, who runs it and what it works on; throws `update-refused`. */
  prepare(words: UpdateWords): Promise<UpdateParts>
  /** Runs this program's migrations on the database of a folder that nobody else uses. */
  migrate(stateDir: string): Promise<string[]>
  addOptions(command: Command): void
  addExamples(command: Command, ...lines: string[]): void
}

export function registerUpdateCommands(program: Command, io: UpdateCommandIo): void {
  const command = program.command("update").description("Bring svc to a newer version, and back if that does not work")
  io.addOptions(command)
  command
    .option("--from <what>", "a version, a tag, or the path of a tarball", "latest")
    .option("--check", "do everything but the switch")
    .option("--force", "also to the same version or an older one")
    .option("--config <path>", "configuration file (default: $SVC_CONFIG_PATH, else svc.json in the state folder)")
    .option("--system", "the gateway is a service of the machine")
    .option("--name <name>", "name of the service", "svc")
    .option("--background", "a gateway that runs in a terminal may go on in the background")
    .option("--keep", "after an update that was cut off: stay with the new version")
    .option("--back", "after an update that was cut off: back to the version and the database before")
    .action(async (words: UpdateWords) => {
      if (words.keep && words.back) throw new AppError("bad-request", "Take one of --keep and --back")
      const parts = await io.prepare(words)
      if (words.keep || words.back) {
        const back = await settleInterrupted(parts, words.keep ? "keep" : "back")
        if (words.json) return io.printJson({ ok: true, settled: words.keep ? "keep" : "back", database: back ?? null })
        return io.print(back ? describeBack(back, wentBack(parts.runner)) : "the new version stays")
      }
      const { from, force, check } = words
      const report = await update(parts, { from, force: force === true, check: check === true })
      if (words.json) return io.printJson({ ok: true, ...report })
      io.print(describe(report))
    })
  io.addExamples(command, "svc update", "svc update --check", "svc update --from ./svc-gateway-1.4.0.tgz")
  addMigrate(command, io)
}

/** Only for the version before: its side of step 3. What it takes and answers does not change between versions. */
function addMigrate(update_: Command, io: UpdateCommandIo): void {
  const migrate = update_
    .command("migrate", { hidden: true })
    .description("Run the migrations on the database of a folder that nobody uses")
  io.addOptions(migrate)
  migrate.action(async ({ stateDir }: { stateDir?: string }) => {
    if (stateDir === undefined) throw new AppError("bad-request", "Name the folder: --state-dir <copy>")
    io.printJson({ ok: true, migrations: await io.migrate(stateDir) })
  })
}

function wentBack({ kind }: Runner): string {
  const place = "the version before is in place again"
  return kind === "none" ? `${place}, and not started` : `${place} and ready`
}

function describe(report: UpdateReport): string {
  if (report.kind === "current") return `svc ${report.version} is what there is`
  const { from, to, migrations, backup } = report
  const changes = migrations.length === 0 ? "no migrations" : `migrations: ${migrations.join(", ")}`
  if (report.kind === "checked")
    return `svc ${to} passes everything before the switch from ${from} (${changes})\nbackup: ${backup}`
  const next = {
    service: "the service runs it and is ready",
    background: "it runs in the background and is ready: svc stop ends it",
    none: "no gateway was running: svc gateway or svc service restart starts it",
  }[report.runner]
  return `updated from ${from} to ${to} (${changes}); ${next}\nbackup: ${backup}`
}
