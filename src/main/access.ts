// Tokens with scopes and the audit log, as the surfaces and features need them.
import { changedPaths } from "../config/index.ts"
import { type Audit, type Tokens, covers, createDoor, scopeMissing, stranger, visitorOf } from "../gateway/index.ts"
import type { HookAudit, HookGuests } from "../hooks/index.ts"
import { type Visitor, createFailureThrottle, plainAddress } from "../kernel/http/index.ts"
import type { Secret } from "../kernel/index.ts"
import type { Core } from "./core.ts"

/** What the gateway's listener, the control service and the webhooks need to know their callers. */
export function composeAccess({ tokens, audit, clock }: Core, token: Secret) {
  // One for both listeners: whoever guesses has one number of tries.
  const throttle = createFailureThrottle({ clock })
  return {
    gateway: { tokens, audit, throttle },
    control: createDoor({ surface: "control", token, tokens, audit, throttle }),
    hooks: composeHookAccess(tokens, audit),
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
        const who = stranger(plainAddress(address))
        audit.count({ door: "hooks", who, action: "auth.failed", outcome: "unauthorized" })
      },
    },
  }
}

/** Depth of the keys that are named: `channels.chatapp.allowFrom`. */
const keyDepth = 3

/** Whoever writes the configuration file, by hand or by command: which keys changed, never what they hold. */
export function auditConfigChanges({ holder, audit }: Core): void {
  holder.subscribe((_changed, change) => {
    const keys = changedPaths(change.before, change.after, keyDepth)
    if (keys.length === 0) return
    audit.record({ door: "config", who: configFile, action: "config.change", target: keys.join(", "), outcome: "ok" })
  })
}
