// Watches the configuration's files: change on the disk -> quiet for a while -> read as a whole -> onChange or onInvalid.
// Folders are watched, not files, so that a file that is replaced by rename or appears later is seen; a slow poll stands
// in where the system sends no events (network drives, a folder that does not exist yet, the target of a link).
import { watch as watchFolder, statSync } from "node:fs"
import type { FSWatcher } from "node:fs"
import { basename, dirname } from "node:path"
import { describeError } from "../kernel/errors.ts"
import type { Variables } from "./environment.ts"
import type { ConfigIssue } from "./document.ts"
import { readEnvironment } from "./environment.ts"
import { loadConfigFile, realConfigPath } from "./load.ts"
import type { ConfigSnapshot, LoadResult } from "./load.ts"

export interface WatchOptions {
  path: string
  env: Variables
  /** What the login shell has said: it is asked once. */
  shell?: () => Readonly<Record<string, string>>
  /** Hash of the snapshot that is in use, so that an unchanged file is no change. */
  initial: ConfigSnapshot
  onChange(snapshot: ConfigSnapshot): void
  onInvalid(issues: ConfigIssue[]): void
  /** The file has gone; what is in use stays in use. */
  onMissing(): void
  /** Milliseconds without an event before files are looked at; asked anew each time. */
  debounceMs(): number
  /** Milliseconds for which files must not change before they are read. */
  stabilityMs?: number
  pollMs?: number
}

export interface ConfigWatcher {
  /** Looks at the files now, without waiting. */
  check(): void
  /** What somebody else has read: a file that says again what it said before is a change then. */
  note(result: LoadResult): void
  stop(): void
}

const defaultStabilityMs = 200
const defaultPollMs = 2000

export function watchConfig(options: WatchOptions): ConfigWatcher {
  return new FileWatcher(options)
}

class FileWatcher implements ConfigWatcher {
  readonly #options: WatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #poll: NodeJS.Timeout
  readonly #envFile: string
  #files: string[]
  #seen: string
  #hash: string
  #missing: boolean
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: WatchOptions) {
    this.#options = options
    this.#envFile = readEnvironment(options.env).envFile.path
    this.#files = options.initial.files
    this.#hash = options.initial.hash
    this.#missing = options.initial.files.length === 0
    this.#follow(options.initial.files)
    this.#seen = this.#signature()
    this.#poll = setInterval(() => {
      if (this.#timer === undefined) this.#poke()
    }, options.pollMs ?? defaultPollMs)
    this.#poll.unref()
  }

  check(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#stopped) this.#read()
  }

  note(result: LoadResult): void {
    this.#hash = result.kind === "ok" ? result.snapshot.hash : ""
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    clearInterval(this.#poll)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Something may have changed; a wait that is under way goes on from its start. */
  #poke(): void {
    if (this.#stopped) return
    for (const folder of this.#wantedFolders()) this.#watch(folder)
    const now = this.#signature()
    if (now !== this.#seen) this.#wait(this.#options.debounceMs(), now)
  }

  #wait(ms: number, signature: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const now = this.#signature()
      if (now === signature && now !== this.#seen && ms === this.#stabilityMs()) this.check()
      else if (now === this.#seen) this.#timer = undefined
      else this.#wait(this.#stabilityMs(), now)
    }, ms)
  }

  #stabilityMs(): number {
    return this.#options.stabilityMs ?? defaultStabilityMs
  }

  #read(): void {
    // Taken before reading: what is written while we read is seen as a change afterwards.
    this.#seen = this.#signature()
    if (!isThere(this.#options.path)) {
      if (!this.#missing) this.#options.onMissing()
      this.#missing = true
      // The same file, when it is back, is to be told of, too.
      this.#hash = ""
      return
    }
    this.#missing = false
    const result = this.#load()
    this.#follow(result.kind === "ok" ? result.snapshot.files : [...this.#files, ...result.files])
    if (result.kind === "invalid") {
      this.#hash = ""
      this.#options.onInvalid(result.issues)
    } else if (result.snapshot.hash !== this.#hash) {
      this.#hash = result.snapshot.hash
      this.#options.onChange(result.snapshot)
    }
  }

  /** Nothing that is on the disk may end whoever watches it: a link in a circle, a folder without the right to enter it. */
  #load(): LoadResult {
    const { path, env, shell } = this.#options
    try {
      return loadConfigFile({ path, env, shell: shell?.() ?? {} })
    } catch (error) {
      return {
        kind: "invalid",
        issues: [{ file: path, line: 0, column: 0, path: "", message: describeError(error) }],
        files: [],
      }
    }
  }

  #follow(files: string[]): void {
    const before = this.#signature()
    this.#files = [...new Set(files)]
    if (this.#seen === before) this.#seen = this.#signature()
    const wanted = this.#wantedFolders()
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of wanted) this.#watch(folder)
  }

  #wantedFolders(): Set<string> {
    return new Set([this.#options.path, this.#envFile, ...this.#files].map((file) => dirname(file)))
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder) || !isThere(folder)) return
    let watcher: FSWatcher
    try {
      watcher = watchFolder(folder, { persistent: false }, (_, name) => {
        if (name === null || this.#isOurs(name)) this.#poke()
      })
    } catch {
      // The system has no more watches to give, or the folder may not be listed: the poll looks at its files.
      return
    }
    // The folder itself has gone; the poll finds it when it comes back.
    watcher.on("error", () => {
      watcher.close()
      this.#watchers.delete(folder)
    })
    this.#watchers.set(folder, watcher)
  }

  #isOurs(name: string): boolean {
    return [this.#options.path, this.#envFile, ...this.#files].some((file) => basename(file) === name)
  }

  /** Changes whenever any of the files is written, replaced, created or removed, or a link leads elsewhere. */
  #signature(): string {
    const { path } = this.#options
    const files = new Set([path, unlessUnreadable(() => realConfigPath(path)) ?? path, this.#envFile, ...this.#files])
    return [...files].map(signatureOf).join("|")
  }
}

function signatureOf(file: string): string {
  const status = unlessUnreadable(() => statSync(file, { throwIfNoEntry: false, bigint: true }))
  return status ? `${file}:${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}` : `${file}:none`
}

/** What cannot be looked at is there: whoever reads it says why. */
function isThere(path: string): boolean {
  return unlessUnreadable(() => statSync(path, { throwIfNoEntry: false }) !== undefined) ?? true
}

function unlessUnreadable<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
