// The configuration of a running gateway. It is always a good one: a start with a bad file is refused, and later a bad
// or vanished file leaves the last good one in use. A copy of the last good file is kept beside the state, for people:
// nothing ever starts from it.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { AppError } from "../kernel/errors.ts"
import type { Log } from "../kernel/log.ts"
import { isJsonObject } from "../kernel/json.ts"
import { writePrivateFile } from "../kernel/private-file.ts"
import type { ConfigIssue } from "./document.ts"
import { configFileName } from "./environment.ts"
import type { Variables } from "./environment.ts"
import { configInvalid, formatIssue, loadConfigFile, loadConfigOrThrow } from "./load.ts"
import { narrowRights } from "./rights.ts"
import type { ConfigSnapshot } from "./load.ts"
import type { Config } from "./schema.ts"
import { watchConfig } from "./watch.ts"
import type { ConfigWatcher } from "./watch.ts"

export interface ConfigChange {
  /** Changed top-level keys, such as `hooks`; `changedPaths` tells more. `env` also stands for `.env` of the state folder. */
  changed: string[]
  before: Config
  after: Config
}

type ConfigListener = (changed: string[], change: ConfigChange) => void

export interface ConfigHolder {
  current(): Config
  snapshot(): ConfigSnapshot
  /** What is wrong with the file on the disk; empty when it could be used. */
  issues(): ConfigIssue[]
  /**
   * Called after each change that took effect, and at once where something has changed `since` then; returns the way to end
   * it.
   */
  subscribe(listener: ConfigListener, since?: ConfigSnapshot): () => void
  /** Reads the file now, whatever `gateway.reload.mode` says. Throws AppError `config-invalid`; the last good one stays. */
  reload(): ConfigSnapshot
  stop(): void
}

export interface StartOptions {
  path: string
  env: Variables
  stateFolder: string
  /** What the login shell has said before; else it is asked where the configuration wants that. */
  shell?: Readonly<Record<string, string>>
}

export interface HolderOptions extends Omit<StartOptions, "shell"> {
  log: Log
  stabilityMs?: number
  pollMs?: number
}

export const lastGoodFileName = `${configFileName}.last-good`

/**
 * What a start begins with. Throws AppError `config-invalid`, listing every issue, and `config-emptied` when the file is
 * gone or says nothing while the last good one did.
 */
export function readFirstConfig(options: StartOptions): ConfigSnapshot {
  const snapshot = loadConfigOrThrow(options)
  // One that is nowhere says as little as an empty one.
  const isGone = snapshot.files.length === 0 && hasLastGood(options.stateFolder)
  if (isGone || isEmptied(snapshot, options.stateFolder)) {
    const message = isGone ? goneMessage(options) : emptiedMessage(options)
    throw new AppError("config-emptied", message, { hint: emptiedHint(options) })
  }
  return snapshot
}

/** Throws as `readFirstConfig` does. */
export function createConfigHolder(options: HolderOptions): ConfigHolder {
  const { path, env, stateFolder } = options
  const snapshot = readFirstConfig({ path, env, stateFolder })
  narrowRights(snapshot.files, options.log)
  const { problem } = snapshot.environment.envFile
  if (problem) options.log.warn({ hint: problem.fix }, problem.message)
  const holder = new Holder(options, snapshot)
  holder.start()
  return holder
}

class Holder implements ConfigHolder {
  readonly #options: HolderOptions
  readonly #listeners = new Set<ConfigListener>()
  #snapshot: ConfigSnapshot
  #issues: ConfigIssue[] = []
  #watcher: ConfigWatcher | undefined

  constructor(options: HolderOptions, snapshot: ConfigSnapshot) {
    this.#options = options
    this.#snapshot = snapshot
  }

  start(): void {
    const { path, env, log, stabilityMs, pollMs } = this.#options
    this.#keepLastGood(this.#snapshot)
    this.#watcher = watchConfig({
      path,
      env,
      shell: () => this.#snapshot.shell,
      initial: this.#snapshot,
      debounceMs: () => this.#snapshot.config.gateway.reload.debounceMs,
      ...(stabilityMs === undefined ? {} : { stabilityMs }),
      ...(pollMs === undefined ? {} : { pollMs }),
      onChange: (snapshot) => {
        const isFollowed = this.#snapshot.config.gateway.reload.mode !== "off"
        if (!isFollowed && !isEmptied(snapshot, this.#options.stateFolder)) {
          this.#issues = []
          log.info({ file: path }, "config change ignored: gateway.reload.mode is off")
        } else this.#use(snapshot)
      },
      onInvalid: (issues) => this.#refuse(issues),
      onMissing: () => {
        this.#issues = [issueOf(path, `${goneMessage(this.#options)}. ${emptiedHint(this.#options)}`)]
        log.warn({ file: path }, "config file is gone; the last good configuration stays in use")
      },
    })
  }

  current(): Config {
    return this.#snapshot.config
  }

  snapshot(): ConfigSnapshot {
    return this.#snapshot
  }

  issues(): ConfigIssue[] {
    return this.#issues
  }

  subscribe(listener: ConfigListener, since?: ConfigSnapshot): () => void {
    this.#listeners.add(listener)
    if (since) this.#tell([listener], changeBetween(since, this.#snapshot))
    return () => this.#listeners.delete(listener)
  }

  reload(): ConfigSnapshot {
    const { path, env } = this.#options
    const result = loadConfigFile({ path, env, shell: this.#snapshot.shell })
    this.#watcher?.note(result)
    if (result.kind === "invalid") {
      this.#refuse(result.issues)
      throw configInvalid(path, result.issues)
    }
    if (isEmptied(result.snapshot, this.#options.stateFolder)) {
      this.#refuseEmptied()
      throw new AppError("config-emptied", emptiedMessage(this.#options), { hint: emptiedHint(this.#options) })
    }
    // A file that has gone is no configuration: what is in use stays.
    if (result.snapshot.files.length > 0) this.#use(result.snapshot)
    return this.#snapshot
  }

  stop(): void {
    this.#watcher?.stop()
    this.#listeners.clear()
  }

  #use(snapshot: ConfigSnapshot): void {
    const { log, path } = this.#options
    if (isEmptied(snapshot, this.#options.stateFolder)) return this.#refuseEmptied()
    const before = this.#snapshot
    const change = changeBetween(before, snapshot)
    this.#issues = []
    this.#snapshot = snapshot
    this.#keepLastGood(snapshot)
    if (shrank(before, snapshot))
      log.warn({ file: path }, "config file lost most of its content; it is valid and is used")
    if (change.changed.length > 0) log.info({ file: path, changed: change.changed }, "config changed")
    this.#tell(this.#listeners, change)
  }

  #tell(listeners: Iterable<ConfigListener>, change: ConfigChange): void {
    const { changed } = change
    if (changed.length === 0) return
    for (const listener of listeners) {
      try {
        listener(changed, change)
      } catch (error) {
        this.#options.log.error({ err: error, changed }, "config change could not be applied by a part")
      }
    }
  }

  #refuse(issues: ConfigIssue[]): void {
    this.#issues = issues
    this.#options.log.warn(
      { file: this.#options.path, issues: issues.map(formatIssue) },
      "config file is invalid; the last good configuration stays in use",
    )
  }

  #refuseEmptied(): void {
    const message = `${emptiedMessage(this.#options)}. ${emptiedHint(this.#options)}`
    this.#refuse([issueOf(this.#options.path, message)])
  }

  #keepLastGood(snapshot: ConfigSnapshot): void {
    if (!saysSomething(snapshot)) return
    const text = `${JSON.stringify(snapshot.source, null, 2)}\n`
    try {
      writePrivateFile(join(this.#options.stateFolder, lastGoodFileName), text)
    } catch (error) {
      // A full disk must not keep a good configuration from being used.
      this.#options.log.warn({ err: error }, "last good configuration could not be copied")
    }
  }
}

/** Keys that say nothing of what the gateway is to do. */
const idleKeys = new Set(["$schema", "meta"])

function saysSomething({ source }: ConfigSnapshot): boolean {
  return Object.keys(source).some((key) => !idleKeys.has(key))
}

/** A file of `{}` while the last good one said something: most likely an accident of whoever wrote it. */
function isEmptied(snapshot: ConfigSnapshot, stateFolder: string): boolean {
  return snapshot.files.length > 0 && !saysSomething(snapshot) && hasLastGood(stateFolder)
}

function hasLastGood(stateFolder: string): boolean {
  return existsSync(join(stateFolder, lastGoodFileName))
}

/** Of the whole file. */
function issueOf(file: string, message: string): ConfigIssue {
  return { file, line: 0, column: 0, path: "", message }
}

function goneMessage({ path }: StartOptions): string {
  return `There is no configuration at ${path}, though there was one before`
}

function emptiedMessage({ path }: StartOptions): string {
  return `The configuration ${path} is empty, though it was not before`
}

function emptiedHint({ path, stateFolder }: StartOptions): string {
  const lastGood = join(stateFolder, lastGoodFileName)
  return `What it said is kept in ${lastGood}: copy it to ${path}. If nothing is to be configured, remove ${lastGood} and start the gateway again`
}

/** Half of the keys gone at once looks like an accident. */
function shrank(before: ConfigSnapshot, after: ConfigSnapshot): boolean {
  const size = (snapshot: ConfigSnapshot) => JSON.stringify(snapshot.source).length
  return size(before) > 200 && size(after) < size(before) / 2
}

function changeBetween(before: ConfigSnapshot, after: ConfigSnapshot): ConfigChange {
  const hasNewVariables = !isDeepStrictEqual(before.environment.envFile.values, after.environment.envFile.values)
  const changed = new Set([...changedPaths(before.config, after.config), ...(hasNewVariables ? ["env"] : [])])
  return { changed: [...changed], before: before.config, after: after.config }
}

/** Keys in which two configurations differ, down to `depth` levels: `hooks` with 1, `hooks.token` with 2. */
export function changedPaths(before: Config, after: Config, depth = 1): string[] {
  return differences(before, after, depth, "")
}

function differences(before: unknown, after: unknown, depth: number, prefix: string): string[] {
  if (isDeepStrictEqual(before, after)) return []
  if (depth === 0 || !isJsonObject(before) || !isJsonObject(after)) return [prefix]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    differences(before[name], after[name], depth - 1, prefix === "" ? name : `${prefix}.${name}`),
  )
}
