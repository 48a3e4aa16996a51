// What a chat command is: an object with its name, who may use it, and what it does. Nothing in it knows a platform.
import type { Asker } from "../../agent/turn-input.ts"
import type { Allowed, CapAllowance, CapState, UsageSums } from "../../budget/contract.ts"
import type { ReplyButton, ReplyMedia } from "../../delivery/contract.ts"
import type { Route } from "../../sessions/route.ts"
import type { Sessions } from "../../sessions/sessions.ts"
import type { AppError, Clock } from "../../kernel/index.ts"
import type { Write } from "../../store/index.ts"
import type { QueueSettings } from "../queue.ts"

/** A command as it was written: the payload of its job, fixed when the message entered. */
export interface CommandCall {
  command: string
  /** What stands behind the name. */
  args: string
  agentId: string
  sessionKey: string
  route: Route
  sender: CommandSender
}

export type CommandSender = Asker

/** `anyone`: everybody whose messages count, once `commands.useAccessGroups` is off; until then as `authorised`. */
export type CommandAccess = "anyone" | "authorised" | "owner"

/** `now`: beside whatever the session does. `in-turn`: after the messages before it, because it changes what follows. */
export type CommandTime = "now" | "in-turn"

export type CommandSwitch = "config" | "debug" | "restart"

export interface ChatCommand {
  name: string
  aliases?: readonly string[]
  /** For the menu and `/commands`: at most 256 characters. */
  summary: string
  /** What may stand behind the name: `always | mention`. */
  usage?: string
  access: CommandAccess
  /** Whoever is heard and may not use it is told so, by the command itself; else a refused command is met with silence. */
  tellsRefused?: boolean
  /** Known, but in no menu and no list. */
  isUnlisted?: true
  /** Key of `commands.*` that has to be on for it to be shown and used. */
  switchedBy?: CommandSwitch
  /** Where it can be used; unset: everywhere. */
  where?: "private" | "group"
  time: CommandTime | ((args: string) => CommandTime)
  /** What it is given may go on over several lines; else only its first line counts. */
  takesLines?: boolean
  run(
    call: CommandCall & { jobId: number; runId: string },
    services: CommandServices,
  ): Promise<CommandAnswer> | CommandAnswer
}

export interface CommandAnswer {
  /** Markdown. */
  text: string
  buttons?: ReplyButton[][]
  /** Files below the media root. */
  media?: ReplyMedia[]
  /** It shows words that neither we nor the sender have written: files, pages, programs, names that strangers bear. */
  isForeign?: true
  /** What it changes: in one transaction with the answer and the end of the job. */
  commit?: (write: Write) => void
}

export interface SelectableModel {
  /** `provider/model` */
  id: string
  alias?: string
}

/** The rest of the gateway, as commands see it; put together in main. */
export interface CommandServices {
  /** All of them, in the order of the menu. */
  commands: readonly ChatCommand[]
  sessions: Sessions
  clock: Clock
  models: {
    selectable(agentId: string): SelectableModel[]
    /** What a selection comes to. Throws AppError with a hint when it is not usable. */
    describe(selection: { agentId: string; model?: string | undefined; thinking?: ThinkingChoice | undefined }): {
      id: string
      thinking: ThinkingChoice | "default"
    }
  }
  /** What the calls of models took: today, and in a session since it began. */
  usage: {
    today(): UsageSums
    session(key: string, since: number): UsageSums
  }
  budget: {
    list(): CapState[]
    /** Throws `not-found`, `bad-request`. */
    allow(id: string, allowance: CapAllowance, by: string): Promise<Allowed>
  }
  pause: {
    /** False when everything is paused already. */
    begin(by: string): Promise<boolean>
    /** How many conversations have something waiting; undefined when nothing is paused. */
    end(by: string): Promise<number | undefined>
  }
  lanes: {
    /** Ends what the session does and holds, as far as the caller may, if it came before this job. */
    stop(call: CommandCall & { jobId: number }): Promise<{ running: number; waiting: number }>
    /** Messages that run and wait in the session. */
    count(sessionKey: string): { running: number; waiting: number }
  }
  queue: {
    /** What holds for messages that come while a turn runs, where the session says nothing. */
    configured(route: Route): QueueSettings
  }
  archive: {
    /** Adds the job that sums the conversation up; whoever is at the route is told how it went. */
    compact(write: Write, wanted: { agentId: string; sessionKey: string; route: Route; instructions?: string }): void
    /** Undefined when the session has no conversation. Throws `media-refused` for what the chat at the route does not take. */
    export(
      sessionKey: string,
      file: { format: "jsonl" | "markdown"; name: string; route: Route },
    ): Promise<{ media: ReplyMedia; messages: number } | undefined>
  }
  config: ConfigAccess
  approvals: {
    /** Says what it came to. Throws `not-found`, `conflict`. */
    decide(id: string, decision: "allow" | "deny", by: string): Promise<string>
  }
  nodes: {
    describe(): string
    /** Says what it came to. Throws `node-not-found`, `node-ambiguous`. */
    decide(decision: "approve" | "revoke", wanted: string, by: string): Promise<string>
  }
  status: {
    version: string
    startedAt: number
    /** How the channel's account does: `running`, `waiting`, ... */
    account(route: Route): Promise<string>
    /** What does not work now, as `svc status` says it: the part, what is wrong, what to do. */
    /** The agent's last and next heartbeat, where they are shown. */
    heartbeat(call: Pick<CommandCall, "agentId" | "route">): string | undefined
    problems(): Promise<readonly { part: string; problem: string; next?: string }[]>
  }
  /** Commands of an owner in the agent's sandbox. */
  shell: {
    isOn(): boolean
    /** What it wrote, and how it ended in words. Throws `sandbox-unavailable`. */
    run(command: { agentId: string; sessionKey: string; command: string }): Promise<{ output: string; end: string }>
  }
  /** Commands that an operator has added to the menu of this account. */
  customCommands(route: Route): readonly { command: string; description: string }[]
  isOn(key: CommandSwitch): boolean
  restarts: {
    /** What would keep the gateway from coming back. */
    check(): Promise<AppError | undefined>
    /** Ends the gateway and starts it anew; what is being written and sent is finished first. */
    begin(reason: string): void
  }
  /** Of the process and the store, without secrets. */
  inspect(): Record<string, unknown>
}

export type ThinkingChoice = "off" | "minimal" | "low" | "medium" | "high"

/** Keys come as a person writes them. Throws AppError for what is refused or wrong; nothing is written then. */
export interface ConfigAccess {
  /** What the file sets, or the value in use of one key; secrets masked. */
  show(key: string | undefined): string
  set(call: CommandCall, key: string, value: string): ConfigChangeReport
  unset(call: CommandCall, key: string): ConfigChangeReport
}

export interface ConfigChangeReport {
  key: string
  isChanged: boolean
  effect: "now" | "after-restart" | "restarting"
}
