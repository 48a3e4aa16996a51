// The door of a surface: secret -> who it is -> what the route needs -> admitted, and told to the audit log when the
// request has ended. The gateway's own token opens everything; others what their scopes say. Wrong secrets are slowed
// down per address, and counted.
import type { IncomingMessage } from "node:http"
import { AppError, type Secret } from "../../kernel/index.ts"
import {
  type Admit,
  type FailureThrottle,
  type Visitor,
  bearerToken,
  clientOf,
  refuse,
} from "../../kernel/http/index.ts"
import type { Audit } from "../audit/index.ts"
import type { Scope } from "./contract.ts"
import { type FoundRule, type Surface, covers, mcpScopes, ruleFor } from "./scopes.ts"
import type { KnownToken, Tokens } from "./tokens.ts"

export interface DoorOptions {
  surface: Surface
  /** The gateway's own. */
  token: Secret
  tokens: Tokens
  audit: Audit
  throttle: FailureThrottle
  /** Who has signed in to the page; throws where the request travels in the open. */
  page?: PageDoor
}

/** Sign-ins of browsers, as a door sees them. */
export interface PageDoor {
  /** By the request's cookie and key. */
  find(request: IncomingMessage): { id: string; name: string; scopes: readonly Scope[] } | undefined
  /** Whether the sign-in of this id still opens something. */
  isGood(id: string): boolean
}

/** What opens a door, and what it opens. */
interface Holder {
  visitor: Visitor
  scopes: readonly Scope[]
  /** Whether it is still good. */
  holds(): boolean
}

const everything: readonly Scope[] = ["admin"]

export function createDoor(options: DoorOptions): Admit {
  const { surface, token, audit } = options
  return (request, path = pathOf(request.url ?? "")) => {
    const rule = ruleFor(surface, request.method ?? "", path)
    const candidate = bearerToken(request.headers.authorization)
    const isOwn = candidate !== undefined && token.matches(candidate)
    const { visitor, scopes, holds } = isOwn
      ? { visitor: owner(request), scopes: everything, holds: () => true }
      : admitHolder(options, request, { candidate, rule })
    let hasEnded = false
    return {
      visitor,
      scopes,
      target: rule.target,
      holds,
      end(status) {
        if (hasEnded) return
        hasEnded = true
        tell({ audit, surface, rule }, visitor, { target: this.target, outcome: outcomeOf(status) })
      },
    }
  }
}

function admitHolder(
  options: DoorOptions,
  request: IncomingMessage,
  { candidate, rule }: { candidate: string | undefined; rule: FoundRule },
): Holder {
  const { surface, tokens, audit, throttle, page } = options
  const found = candidate === undefined ? undefined : tokens.find(candidate)
  if (found?.kind === "known") {
    const { id, scopes } = found.token
    return checkScope(options, { visitor: visitorOf(found.token), scopes, holds: () => tokens.isGood(id) }, rule)
  }
  const session = candidate === undefined ? page?.find(request) : undefined
  if (session) {
    const { id, name, scopes } = session
    const visitor: Visitor = { kind: "page", id, name }
    return checkScope(options, { visitor, scopes, holds: () => page?.isGood(id) ?? false }, rule)
  }
  const address = request.socket.remoteAddress ?? "unknown"
  audit.count({ door: surface, who: stranger(clientOf(address)), action: "auth.failed", outcome: "unauthorized" })
  const expired = found?.kind === "expired" ? `The token ${found.name} has expired` : undefined
  refuse(throttle, address, {
    message: expired ?? (candidate === undefined ? "A token is needed" : "The token is wrong"),
    hint: expired
      ? "Make a new one: svc token create"
      : "Send the header 'Authorization: Bearer <token>'; the token file is named by: svc status --json",
  })
}

function checkScope({ surface, audit }: DoorOptions, holder: Holder, { scope }: FoundRule): Holder {
  if (scope === "open" || scope === "any" || covers(holder.scopes, scope)) return holder
  const refused = { action: "scope.refused", target: scope, outcome: "scope-missing" }
  audit.count({ door: surface, who: holder.visitor, ...refused })
  throw scopeMissing({ ...holder.visitor, scopes: holder.scopes }, scope)
}

export function scopeMissing(token: Pick<KnownToken, "name" | "scopes">, needed: Scope | "mcp"): AppError {
  const held = token.scopes.length === 0 ? "none" : token.scopes.join(", ")
  if (needed === "mcp") {
    const wanted = mcpScopes.join(", ")
    return new AppError("scope-missing", `The token ${token.name} has none of the scopes ${wanted} (it has ${held})`, {
      hint: "Make one that has what its tools need: svc token create --scope browser --name <name>",
    })
  }
  return new AppError("scope-missing", `The token ${token.name} has not the scope ${needed} (it has ${held})`, {
    hint: `Make one that has it: svc token create --scope ${needed} --name <name>`,
  })
}

/** The command line says so itself: only whoever has the gateway's token can. */
function owner(request: IncomingMessage): Visitor {
  if (request.headers["user-agent"] === "svc") return { kind: "cli", id: "", name: "svc" }
  return { kind: "gateway-token", id: "", name: "gateway token" }
}

export function visitorOf({ id, name }: KnownToken): Visitor {
  return { kind: "token", id, name }
}

export function stranger(address: string): Visitor {
  return { kind: "stranger", id: address, name: address }
}

/**
 * What is named in the table is a row of its own; of the rest, what named tokens do
 * and what is done in browsers is counted by the hour.
 */
function tell(
  { audit, surface, rule }: { audit: Audit; surface: Surface; rule: FoundRule },
  who: Visitor,
  { target, outcome }: { target: string; outcome: string },
): void {
  if (rule.action !== undefined) return audit.record({ door: surface, who, action: rule.action, target, outcome })
  // A page that lies open asks all day long; what it changes has a name.
  if (surface === "gateway" && who.kind !== "token") return
  const scope = surface === "control" ? "browser" : rule.scope
  audit.count({ door: surface, who, action: `${scope}.use`, outcome: "" })
}

function outcomeOf(status: number): string {
  return status < 400 ? "ok" : `status ${status}`
}

function pathOf(target: string): string {
  const mark = target.indexOf("?")
  return mark === -1 ? target : target.slice(0, mark)
}
