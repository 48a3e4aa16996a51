// What every operation begins with: may it be done, in which tab, until when; and how it ends: the reply's usual fields.
import { AppError, type Background, type Clock, type Ids, type Log } from "../kernel/index.ts"
import type { Caller } from "./caller.ts"
import type { BrowserConfig } from "./config.ts"
import type { PageReply, Reply } from "./contract.ts"
import type { Guard } from "./guard.ts"
import type { OperationOptions, Tab } from "./page/tab.ts"
import type { Tabs } from "./page/tabs.ts"
import type { Machine } from "./profiles/detect/index.ts"
import type { ExplainRequest } from "./requests/index.ts"
import type { Relay } from "./relay/index.ts"
import type { Casts } from "./live/casts.ts"
import type { Traces } from "./running-traces.ts"
import type { Hidden, SecretSource } from "./secrets.ts"
import type { ProfileRegistry } from "./profiles/registry.ts"

export interface CoreOptions {
  /** As the configuration is at that moment. */
  readonly settings: BrowserConfig
  registry: Pick<ProfileRegistry, "get" | "has" | "all" | "defaultName">
  relay: Relay
  stateFolder: string
  machine: Machine
  ids: Ids
  clock: Clock
  log: Log
  background: Background
  guard: Guard
  traces: Traces
  /** One screencast a tab, whoever looks at it. */
  casts: Casts
  /** Kept secrets; without it there are none. */
  secrets: SecretSource | undefined
  /** What was filled in, which no answer shows. */
  hidden: Hidden
  hasAutomationLibrary(): boolean
  /** Where a call of the agent would go; only the gateway's own service can say it. */
  explain?: (request: ExplainRequest) => Promise<Reply<"Explanation">>
  /** Changes one entry of `browser.profiles` in the configuration file (removes it without a value) and takes it up. */
  changeProfile(name: string, entry: ProfileEntry | undefined): Promise<void>
}

/** An entry of `browser.profiles` as it is written; `${NAME}` stands for a variable of the environment. */
export interface ProfileEntry {
  color: string
  cdpPort?: number
  cdpUrl?: string
  driver?: "relay" | "extension" | "existing"
}

/** Tabs, and the space among them in which the caller is. */
export interface Place {
  tabs: Tabs
  space: string | undefined
}

export function createAccess({ registry, guard, hasAutomationLibrary }: CoreOptions) {
  /** The caller's tabs, in a browser that holds to the policy. */
  async function enter(caller: Caller): Promise<Place> {
    const profile = registry.get(caller.profile)
    const live = await profile.ensure(caller.signal)
    return { tabs: live.tabs, space: await guard.enter(profile, live, caller) }
  }
  return {
    enter,
    /** Decided before anything is started: half an automation would surprise. */
    needLibrary(feature: string): void {
      if (hasAutomationLibrary()) return
      throw new AppError(
        "library-missing",
        `The automation library is unavailable in this gateway build, so ${feature} is not supported`,
        {
          hint: "Install the full package (not the core-only one) and restart the gateway",
        },
      )
    },
    /** For what reaches further than one tab: in a person's own browser it is theirs. `why` ends the sentence. */
    needWholeBrowser(caller: Caller, why: string): void {
      const { kind, name } = registry.get(caller.profile)
      if (kind !== "relay") return
      throw new AppError("profile-unsupported", `Not in a person's own tabs (profile ${name}): ${why}`, {
        hint: "Use the profile managed for it, or ask the person to do it",
      })
    },
    async pick(caller: Caller, targetId: string | undefined): Promise<Tab> {
      const { tabs, space } = await enter(caller)
      return tabs.pick(targetId, space)
    },
  }
}

export function limits(what: string, timeoutMs: number, caller: Caller): OperationOptions {
  return { what, timeoutMs, signal: caller.signal }
}

/** `known`: the title, where the page itself has told it a moment ago; else the browser is asked. */
export async function pageReply(tab: Tab, known = ""): Promise<PageReply> {
  return { ok: true, targetId: tab.targetId, url: tab.url, title: known || (await tab.title()) }
}

export function needEvaluation({ settings }: CoreOptions): void {
  if (settings.evaluateEnabled) return
  throw new AppError("evaluate-disabled", "Running code in pages is switched off", {
    hint: "browser.evaluateEnabled decides; act evaluate, evaluate and wait --fn all need it",
  })
}
