// The configuration file as a form: what it says and may say, what changes would make of it, and writing them. Keys that
// guard the door and secrets are changed in the file alone, by whoever sits at the machine.
import { createHash } from "node:crypto"
import {
  type ConfigSnapshot,
  type FileChange,
  type KeyChange,
  configInvalid,
  diffLines,
  formatConfigPath,
  formatIssue,
  isFormPath,
  listFields,
  listSections,
  loadConfigFile,
  parseConfigPath,
  parseConfigText,
  planConfigChanges,
  writeConfigChanges,
} from "../config/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import type { Core } from "./core.ts"
import { takesRestart } from "./reload.ts"

type Actions = GatewayActions["config"]
type Changes = Parameters<Actions["check"]>[0]

export function configActions(core: Core): Actions {
  const target = () => ({ path: core.environment.configPath, env: core.environment.variables })
  return {
    overview: () => ({
      path: core.environment.configPath,
      mode: core.config().gateway.reload.mode,
      problems: core.holder.issues().map(formatIssue),
      sections: listSections(onDisk(core)),
    }),
    fields(section, entry) {
      const fields = listFields(onDisk(core), section, entry === undefined ? undefined : parseConfigPath(entry))
      if (fields.length > 0) return { fields }
      throw new AppError("not-found", `The configuration has no section ${JSON.stringify(section)}`)
    },
    check(changes) {
      const plan = planConfigChanges({ ...target(), changes: readChanges(core, changes) })
      if (plan.kind === "invalid") {
        return { issues: plan.issues.map(({ path: key, message }) => ({ key, message })), files: [], revision: "" }
      }
      const files = plan.files.map(({ file, before, after }) => ({ file, lines: diffLines(before, after) }))
      return { issues: [], files, revision: revisionOf(plan.files) }
    },
    save(given, revision) {
      const changes = readChanges(core, given)
      const isWanted = (files: readonly FileChange[]) => revisionOf(files) === revision
      const result = writeConfigChanges({ ...target(), changes, isWanted })
      if (result.kind === "invalid") throw configInvalid(core.environment.configPath, result.issues)
      const { mode } = core.config().gateway.reload
      if (mode !== "off") core.holder.reload()
      const isRestarted = mode === "restart" || changes.some(({ key }) => takesRestart(formatConfigPath(key)))
      return { files: result.files, effect: mode === "off" ? "next-start" : isRestarted ? "restart" : "now" }
    },
  }
}

/** What the files say now; while they are wrong, what is in use. */
export function onDisk({ environment, holder }: Pick<Core, "environment" | "holder">): ConfigSnapshot {
  const { shell } = holder.snapshot()
  const { configPath: path, variables: env } = environment
  const read = loadConfigFile({ path, env, shell, missingVariables: "leave-out" })
  return read.kind === "ok" ? read.snapshot : holder.snapshot()
}

function revisionOf(files: readonly FileChange[]): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex")
}

function readChanges(core: Core, changes: Changes): KeyChange[] {
  const { source } = onDisk(core)
  return changes.map(({ key: written, value, text }) => {
    const key = parseConfigPath(written)
    if (!isFormPath(key)) {
      throw new AppError(
        "config-write-refused",
        `${formatConfigPath(key)} is changed in the configuration file alone`,
        {
          hint: `It is a secret, guards the door, or is not known. On the machine: svc config set ${formatConfigPath(key)} <value>`,
        },
      )
    }
    const wanted = text === undefined ? value : parseConfigText(text)
    refuseNewPlaceholders(wanted, at(source, key), formatConfigPath(key))
    return wanted === undefined ? { key } : { key, value: wanted }
  })
}

/** `${NAME}` would let whoever can read the key read the environment too; what stands in the file may stay. */
function refuseNewPlaceholders(wanted: unknown, written: unknown, key: string): void {
  const known = new Set(placeholders(written))
  const added = placeholders(wanted).find((each) => !known.has(each))
  if (added === undefined) return
  throw new AppError("config-write-refused", `${key}: values of the environment (${added}) are set in the file itself`)
}

function placeholders(value: unknown): string[] {
  return JSON.stringify(value ?? "").match(/\$\{[^}]{0,200}\}/g) ?? []
}

function at(source: unknown, path: readonly (string | number)[]): unknown {
  let value = source
  for (const segment of path) value = (value as Record<string | number, unknown> | undefined)?.[segment]
  return value
}
