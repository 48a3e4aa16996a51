// The one place that decides what a token may do: surface, method and path -> the scope that is needed, and the name
// under which the audit log keeps it. A route that is not in the table needs `admin`; a test walks every registered
// route and fails on one that is missing. docs/reference/scopes.md is generated from here.
import type { Scope } from "./contract.ts"

export const scopeMeanings: Readonly<Record<Scope, string>> = {
  browser: "Drives browsers through the control service: start, stop, tabs, pages. Profiles are not made or removed.",
  hooks:
    "Posts webhooks to `/hooks/wake`, `/hooks/agent` and mappings without a signature, and reads the results of those that it has posted itself.",
  status: "Reads how the gateway is: status, readiness with its parts, metrics, channels, models, usage.",
  message: "Sends messages to chats, edits, deletes and reacts to them.",
  admin: "Everything but webhooks, which only the scope `hooks` and the hook token open.",
}

/** Each brings tools of its own; a token that has none of them has no business at `/mcp`. */
export const mcpScopes: readonly Scope[] = ["browser", "message", "admin"]

export type Surface = "gateway" | "control"

export interface RouteRule {
  /**
   * `open` asks for no secret at all, `any` for a right one whatever its scopes, `mcp` for a token with any scope that has
   * tools there.
   */
  scope: Scope | "open" | "any" | "mcp"
  /** Name in the audit log, one row each; without one, what tokens do is counted by the hour. */
  action?: string
}

type Rules = Readonly<Record<string, RouteRule>>

const any: RouteRule = { scope: "any" }
const status: RouteRule = { scope: "status" }
const admin: RouteRule = { scope: "admin" }
const browser: RouteRule = { scope: "browser" }
const does = (scope: Scope | "any", action: string): RouteRule => ({ scope, action })

const gatewayRules: Rules = {
  "GET /healthz": { scope: "open" },
  // Without a secret it says yes or no.
  "GET /readyz": status,
  "GET /metrics": status,
  "GET /api/status": status,
  "POST /api/status/dismiss": does("admin", "status.dismiss"),
  "GET /api/usage": status,
  "GET /api/budget": status,
  "GET /api/pause": status,
  "POST /api/pause": does("admin", "gateway.pause"),
  "POST /api/resume": does("admin", "gateway.resume"),
  "POST /api/budget/allow": does("admin", "budget.allow"),
  "GET /api/models": status,
  "GET /api/channels": status,
  "GET /api/heartbeat": admin,
  "GET /api/schedules": admin,
  "POST /api/schedules": does("admin", "schedule.add"),
  "GET /api/schedules/:id": admin,
  "POST /api/schedules/:id/run": does("admin", "schedule.run"),
  "POST /api/schedules/:id/pause": does("admin", "schedule.pause"),
  "POST /api/schedules/:id/resume": does("admin", "schedule.resume"),
  "POST /api/schedules/:id/remove": does("admin", "schedule.remove"),
  "POST /api/heartbeat/now": does("admin", "heartbeat.now"),
  "POST /api/message/send": does("message", "message.send"),
  "POST /api/message/edit": does("message", "message.edit"),
  "POST /api/message/delete": does("message", "message.delete"),
  "POST /api/message/react": does("message", "message.react"),
  "POST /api/agent": does("admin", "agent.ask"),
  "GET /api/agent/:runId": admin,
  "POST /api/agent/:runId/stop": does("admin", "agent.stop"),
  "POST /api/stop": does("admin", "gateway.stop"),
  "GET /api/runs": admin,
  "GET /api/runs/:runId": admin,
  "GET /api/runs/:runId/story": admin,
  "GET /api/runs/:runId/pictures/:n": admin,
  "POST /api/runs/:runId/stop": does("admin", "run.stop"),
  "POST /api/runs/:runId/again": does("admin", "run.again"),
  "GET /api/browser": browser,
  "POST /api/browser/start": does("browser", "browser.start"),
  "POST /api/browser/stop": does("browser", "browser.stop"),
  "POST /api/browser/open": does("browser", "browser.open"),
  "POST /api/browser/close": does("browser", "browser.close"),
  "GET /api/browser/snapshot": browser,
  "GET /api/browser/live": does("browser", "browser.watch"),
  "GET /api/deliveries": admin,
  "GET /api/deliveries/:id": admin,
  "POST /api/deliveries/:id/retry": does("admin", "delivery.retry"),
  "POST /api/deliveries/:id/dismiss": does("admin", "delivery.dismiss"),
  "GET /api/logs": admin,
  "GET /api/events": admin,
  "GET /api/sessions": admin,
  "GET /api/search": admin,
  "GET /api/session": admin,
  "GET /api/session/messages": admin,
  "GET /api/session/export": does("admin", "session.export"),
  "POST /api/session/compact": does("admin", "session.compact"),
  "POST /api/session/delete": does("admin", "session.delete"),
  "GET /api/memory/search": admin,
  "GET /api/memory/notes": admin,
  "GET /api/memory/note": admin,
  "POST /api/memory/note": does("admin", "memory.save"),
  "POST /api/memory/add": does("admin", "memory.add"),
  "GET /api/updates": admin,
  "GET /api/updates/:id": admin,
  "POST /api/models/test": does("admin", "model.test"),
  "GET /api/hooks": admin,
  "POST /api/hooks/test": does("admin", "hook.test"),
  "GET /api/hooks/:id": admin,
  "POST /api/hooks/:id/replay": does("admin", "hook.replay"),
  "GET /api/people": admin,
  "GET /api/pairing/:channel": admin,
  "POST /api/pairing/:channel/approve": does("admin", "pairing.approve"),
  "POST /api/pairing/:channel/deny": does("admin", "pairing.deny"),
  "POST /api/pairing/:channel/revoke": does("admin", "pairing.revoke"),
  "GET /api/channels/:channel/explain": admin,
  "POST /api/channels/:channel/unpin": does("admin", "channel.unpin"),
  "GET /api/approvals": admin,
  "GET /api/approvals/:id": admin,
  "POST /api/approvals/:id/allow": does("admin", "approval.allow"),
  "POST /api/approvals/:id/deny": does("admin", "approval.deny"),
  "GET /api/config": admin,
  "GET /api/config/fields": admin,
  "POST /api/config/check": admin,
  "POST /api/config/save": does("admin", "config.save"),
  "GET /api/sandbox": admin,
  "GET /api/sandbox/explain": admin,
  "POST /api/sandbox/stop": does("admin", "sandbox.stop"),
  "GET /api/nodes": admin,
  "POST /api/nodes/approve": does("admin", "node.approve"),
  "POST /api/nodes/revoke": does("admin", "node.revoke"),
  "POST /api/nodes/rename": does("admin", "node.rename"),
  "GET /api/mcp/servers": admin,
  "GET /api/mcp/servers/:name": admin,
  "POST /api/mcp/servers/:name/accept": does("admin", "mcp.accept"),
  "GET /api/browser/takeovers": browser,
  "POST /api/browser/takeovers": does("browser", "takeover.link"),
  "POST /api/browser/takeovers/:id/end": does("browser", "takeover.end"),
  "GET /api/secrets": admin,
  "POST /api/secrets": does("admin", "secret.set"),
  "POST /api/secrets/remove": does("admin", "secret.remove"),
  "GET /api/tokens": admin,
  "POST /api/tokens": does("admin", "token.create"),
  "POST /api/tokens/revoke": does("admin", "token.revoke"),
  "GET /api/page/sessions": admin,
  "POST /api/page/sessions/end": does("admin", "page.end"),
  "GET /api/backups": admin,
  "POST /api/backups": does("admin", "backup.create"),
  "GET /api/skills": admin,
  "GET /api/skills/:name": admin,
  "GET /api/audit": admin,
  "GET /api/chat": admin,
  "GET /api/chat/messages": admin,
  "POST /api/chat/messages": does("admin", "chat.say"),
  "POST /api/chat/clicks": does("admin", "chat.click"),
  "POST /api/chat/files": does("admin", "chat.file"),
  "GET /api/chat/messages/:message/files/:n": admin,
  "POST /api/page/links": does("any", "page.link"),
  "GET /api/page/session": any,
  "POST /api/page/leave": does("any", "page.leave"),
  // What it tells depends on the scopes of who listens.
  "GET /api/stream": any,
  // What its tools do passes this table once more, as the route that it is.
  "POST /mcp": { scope: "mcp" },
  "GET /mcp": { scope: "mcp" },
  "DELETE /mcp": { scope: "mcp" },
}

const controlRules: Rules = {
  "GET /": browser,
  "POST /start": does("browser", "browser.start"),
  "POST /stop": does("browser", "browser.stop"),
  "GET /profiles": browser,
  // These write the configuration file, or take a profile's data away.
  "POST /profiles/create": does("admin", "profile.create"),
  "DELETE /profiles/:name": does("admin", "profile.delete"),
  "POST /reset-profile": does("admin", "profile.reset"),
  "GET /explain": browser,
  "GET /extension": browser,
  "POST /extension/install": does("admin", "extension.install"),
  // The code is a key to the person's tabs.
  "POST /extension/pair": does("admin", "extension.pair"),
  "GET /tabs": browser,
  "POST /tabs/open": browser,
  "POST /tabs/focus": browser,
  "POST /tabs/action": browser,
  "DELETE /tabs/:targetId": browser,
  "POST /navigate": browser,
  "GET /snapshot": browser,
  "POST /screenshot": browser,
  "POST /act": browser,
  "POST /hooks/dialog": browser,
  "POST /hooks/file-chooser": browser,
  "POST /download": browser,
  "GET /downloads": browser,
  "POST /wait/download": browser,
  "GET /console": browser,
  "GET /errors": browser,
  "GET /requests": browser,
  "POST /pdf": browser,
  "POST /highlight": browser,
  "POST /response/body": browser,
  "GET /cookies": browser,
  "POST /cookies/set": browser,
  "POST /cookies/clear": browser,
  "GET /storage/:kind": browser,
  "POST /storage/:kind/set": browser,
  "POST /storage/:kind/clear": browser,
  "POST /trace/start": browser,
  "POST /trace/stop": browser,
  "POST /set/offline": browser,
  "POST /set/headers": browser,
  "POST /set/geolocation": browser,
  "POST /set/media": browser,
  "POST /set/timezone": browser,
  "POST /set/locale": browser,
  "POST /set/device": browser,
  "POST /set/credentials": browser,
  "GET /openapi.json": browser,
  "GET /scripts": browser,
  "GET /scripts/:name": browser,
  "DELETE /scripts/:name": browser,
}

export const routeRules: Readonly<Record<Surface, Rules>> = { gateway: gatewayRules, control: controlRules }

export interface FoundRule extends RouteRule {
  /** What the path says in the places of `:names`. */
  target: string
}

/** What a request needs. The path is the raw one, as the router will see it; unknown ones need `admin`. */
export function ruleFor(surface: Surface, method: string, path: string): FoundRule {
  const rules = routeRules[surface]
  // A router answers HEAD as it answers GET.
  const verb = method === "HEAD" ? "GET" : method
  const plain = rules[`${verb} ${path}`]
  if (plain && !path.includes(":")) return { ...plain, target: "" }
  const parts = path.split("/")
  for (const [route, rule] of Object.entries(rules)) {
    const target = matchRoute(route, verb, parts)
    if (target !== undefined) return { ...rule, target }
  }
  return { scope: "admin", target: "" }
}

function matchRoute(route: string, method: string, parts: readonly string[]): string | undefined {
  if (!route.includes(":") || !route.startsWith(`${method} `)) return undefined
  const wanted = route.slice(method.length + 1).split("/")
  if (wanted.length !== parts.length) return undefined
  const named: string[] = []
  for (const [index, part] of wanted.entries()) {
    const given = parts[index] as string
    if (part.startsWith(":") && given !== "") named.push(given)
    else if (part !== given) return undefined
  }
  return named.join(" ")
}

/** `admin` is everything but `hooks`: what senders of webhooks are given must never be a key of the house. */
export function covers(held: readonly Scope[], needed: Scope | "mcp"): boolean {
  if (needed === "mcp") return mcpScopes.some((scope) => held.includes(scope))
  return held.includes(needed) || (needed !== "hooks" && held.includes("admin"))
}
