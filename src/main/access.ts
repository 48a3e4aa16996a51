// Tokens with scopes and the audit log, as the surfaces and features need them.
import { join } from "node:path"
import { changedPaths } from "../config/index.ts"
import { type Audit, type Tokens, covers, createDoor, scopeMissing, stranger, visitorOf } from "../gateway/index.ts"
import type { GatewayToken } from "../gateway/index.ts"
import type { HookAudit, HookGuests } from "../hooks/index.ts"
import { type Visitor, createFailureThrottle, clientOf } from "../kernel/http/index.ts"
import type { Core } from "./core.ts"
import { composePage } from "./page.ts"

/** What the gateway's listener, the control service and the webhooks need to know their callers. */
export function composeAccess(core: Core, token: GatewayToken, port: () => number) {
  const { tokens, audit, clock } = core
  // One for both listeners: whoever guesses has one number of tries.
  const throttle = createFailureThrottle({ clock })
  return {
    gateway: {
      token,
      tokens,
      audit,
      throttle,
      page: composePage(core, { token, throttle, port }),
      logFolder: join(core.environment.stateFolder, "logs"),
    },
    control: {
      token: token.token,
      admit: createDoor({ surface: "control", token: token.token, tokens, audit, throttle }),
    },
    hooks: composeHookAccess(tokens, audit),
    onChatRefused: (address: string) =>
      audit.count({ door: "chat", who: stranger(clientOf(address)), action: "auth.failed", outcome: "unauthorized" }),
  }
}

const hookToken: Visitor = { kind: "hook-token", id: "", name: "hook token" }
const configFile: Visitor = { kind: "file", id: "", name: "configuration file" }

function composeHookAccess(tokens: Tokens, audit: Audit): { guests: HookGuests; audit: HookAudit } {
  return {
    guests: {
      admit(text) {
        const found = tokens.find(text)
        if (found.kind !== "known") return undefined
        const { token } = found
        if (covers(token.scopes, "hooks")) return { id: token.id, name: token.name }
        const refused = { action: "scope.refused", target: "hooks", outcome: "scope-missing" }
        audit.count({ door: "hooks", who: visitorOf(token), ...refused })
        throw scopeMissing(token, "hooks")
      },
    },
    audit: {
      delivered({ by, mapping, outcome }) {
        const signed: Visitor = { kind: "signature", id: mapping, name: mapping }
        const who = by === "hook-token" ? hookToken : by === "signature" ? signed : ({ kind: "token", ...by } as const)
        audit.count({ door: "hooks", who, action: "hook.deliver", target: mapping, outcome })
      },
      refused(address) {
        const who = stranger(clientOf(address))
        audit.count({ door: "hooks", who, action: "auth.failed", outcome: "unauthorized" })
      },
    },
  }
}

/** Depth of the keys that are named: `channels.chatapp.allowFrom`. */
const keyDepth = 3

/** Whoever writes the configuration file, by hand or by command: which keys changed, never what they hold. */
export function auditConfigChanges({ holder, begun, audit }: Core): void {
  holder.subscribe((_changed, change) => {
    const keys = changedPaths(change.before, change.after, keyDepth)
    if (keys.length === 0) return
    audit.record({ door: "config", who: configFile, action: "config.change", target: keys.join(", "), outcome: "ok" })
  }, begun)
}

/** A restore happens while no gateway runs; the first start on what it made tells of it. */
export async function auditRestore({ store, audit }: Pick<Core, "store" | "audit">): Promise<void> {
  const mark = (await store.meta.get("restored")) as { at: number; createdAt: number } | undefined
  if (!mark || (await store.meta.get("restored-audited")) === mark.at) return
  const target = `backup of ${new Date(mark.createdAt).toISOString()}`
  const who: Visitor = { kind: "cli", id: "", name: "svc" }
  audit.record({ door: "gateway", who, action: "backup.restore", target, outcome: "ok" })
  await store.meta.set("restored-audited", mark.at)
}
