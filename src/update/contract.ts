// What the parts of `svc update` say to each other, and what it needs of the other features, which main hands in.

/** Where the program that runs this is installed, and what an update puts beside it. */
export interface Place {
  /** The folder of the package, which an update replaces whole. */
  package: string
  /** `dist/svc.cjs` in it, whichever version that is. */
  program: string
  version: string
  /** The new version until the switch. */
  beside: string
  /** The version before from the switch on, until all has gone well. */
  before: string
  /** Held while an update of this place is under way. */
  lock: string
}

export interface Held {
  release(): void
}

/** Whoever runs the gateway, asked to stop it and to start whatever version is in place. */
export interface Runner {
  kind: "service" | "background" | "none"
  stop(): Promise<void>
  /** Resolves when it is ready; rejects with the reason. `version` is what must answer. */
  start(version: string): Promise<void>
}

export interface UpdateParts {
  place: Place
  stateFolder: string
  configPath: string
  node: string
  runner: Runner
  tryLock(path: string): Held | undefined
  /** A backup that was read back; its path. */
  createBackup(): Promise<string>
  /** A copy of the database, whole, while a gateway may be writing it. */
  copyDatabase(target: string): Promise<void>
  /** Whether this program could go on with a database as it is now: the old one, unless an update was cut off. */
  canUse(database: string): boolean
  /** For the children and files, when root updates what belongs to somebody else. */
  owner: { uid: number; gid: number } | undefined
  variables: Readonly<Record<string, string | undefined>>
  progress(line: string): void
  signal: AbortSignal
}

export interface UpdateOptions {
  /** A version, a tag of the registry, or the path of a tarball. */
  from: string
  /** Also to the same version or an older one. */
  force: boolean
  /** All but the switch. */
  check: boolean
}

export type UpdateReport =
  | { kind: "current"; version: string }
  | { kind: "checked"; from: string; to: string; backup: string; migrations: string[] }
  | {
      kind: "updated"
      from: string
      to: string
      backup: string
      migrations: string[]
      /** `none`: no gateway was running, so that none was started. */
      runner: Runner["kind"]
    }
