// What the parts of `svc service` say to each other: what is to run, how a manager of services is told, how it stands.

/** What is to run, as whom, and where. Every path is absolute. */
export interface ServicePlan {
  /** `svc` unless another was asked for; the unit is `<name>.service`. */
  name: string
  scope: "user" | "system"
  /** Whom a system service runs as; in a user's own service nobody else comes into question. */
  user: string | undefined
  home: string
  node: string
  program: string
  stateFolder: string
  /** Only when it was named; else it is `svc.json` in the state folder. */
  configPath: string | undefined
  /** Outside the home and the state folder, and written to all the same: the backup folder, workspaces. */
  writable: string[]
  /** What Chromium's sandbox is made of on this machine; it decides how far the service can be closed in. */
  chromiumSandbox: "namespaces" | "setuid"
}

/** A program and its words. */
export type Command = readonly string[]

export interface ServiceState {
  /** The file of the service is there and its manager knows it. */
  installed: boolean
  /** Started when the machine or the session starts. */
  enabled: boolean
  active: "running" | "starting" | "stopping" | "stopped" | "failed"
  pid: number | undefined
  /** How often the manager has started it again by itself since it was last asked to. */
  restarts: number
  /** Milliseconds since the epoch. */
  since: number | undefined
  /** What the manager says about the last end. */
  result: string | undefined
}

/** The program of the system that runs services: systemd or launchd. */
export interface ServiceManager {
  readonly kind: "systemd" | "launchd"
  readonly name: string
  /** Where the description of the service lies. */
  readonly file: string
  /** What a person types to read the log. */
  readonly logs: string
  /** The description of the service, checked. */
  render(plan: ServicePlan): string
  /** To be run one after another; nothing is put through a shell. */
  readonly commands: {
    /** After the file was written or changed. */
    load: readonly Command[]
    /** Before a start: forgets failures that would hold it off. May fail, as where there is nothing to forget. */
    clear: readonly Command[]
    start: readonly Command[]
    stop: readonly Command[]
    restart: readonly Command[]
    /** Before the file is removed. */
    disable: readonly Command[]
    /** After it was. */
    forget: readonly Command[]
  }
  /** Throws `service-unsupported` when it does not run here or cannot be reached. */
  check(): Promise<void>
  state(): Promise<ServiceState>
  /** The last lines of its log; none where they cannot be had. */
  lastLines(): Promise<string[]>
  /** What a person should know about when it runs; undefined when there is nothing. */
  advice(): Promise<string | undefined>
}
