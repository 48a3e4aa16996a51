// Keys that guard the door. A model may never write them, a chat only through an owner's own command; whoever writes
// on behalf of either asks here first.
import { includeKey } from "./source-tree.ts"
import type { ConfigPath } from "./path.ts"
import { configSchema } from "./schema.ts"
import { isSecret } from "./schema-walk.ts"

const guardedChannelKeys = [
  "enabled",
  "botToken",
  "tokenFile",
  "dmPolicy",
  "allowFrom",
  "groupPolicy",
  "groupAllowFrom",
  "groups.*.allowFrom",
  "groups.*.enabled",
  "groups.*.tools",
  "groups.*.toolsBySender",
  "groups.*.topics.*.allowFrom",
  "groups.*.topics.*.enabled",
  "capabilities",
  "apiRoot",
  "localFileRoots",
  "proxy",
  "webhookUrl",
  "webhookSecret",
  "webhookPath",
  "webhookBind",
  "actions",
  "configWrites",
]

/** A `*` stands for any one segment. */
const guarded = [
  includeKey,
  "env",
  "gateway",
  "hooks",
  "mcp",
  "storage",
  "nodeHost",
  "models.providers",
  "bindings",
  "session.store",
  "session.scope",
  "session.dmScope",
  "session.identityLinks",
  "browser.executablePath",
  "browser.noSandbox",
  "browser.cdpUrl",
  "browser.profiles",
  "browser.attachOnly",
  "browser.evaluateEnabled",
  "browser.navigation",
  "agents.defaults.sandbox",
  "agents.defaults.tools",
  "agents.defaults.workspace",
  "agents.defaults.models",
  "agents.list.*.sandbox",
  "agents.list.*.tools",
  "agents.list.*.workspace",
  "agents.list.*.skills",
  "memory.sessions",
  "commands.config",
  "commands.bash",
  "commands.debug",
  "commands.restart",
  "commands.useAccessGroups",
  "channels.defaults.groupPolicy",
  ...guardedChannelKeys.flatMap((key) => [`channels.*.${key}`, `channels.*.accounts.*.${key}`]),
].map((text) => text.split("."))

/**
 * Speaks with the owner's voice (prompts), or reaches what is the owner's (where heartbeats go, what is kept and for how
 * long): somebody let in may change how answers look, and nothing of these.
 */
const owners = [
  "agents",
  "approvals",
  "backup",
  "browser",
  "budget",
  "commands",
  "cron",
  "delivery",
  "logging",
  "memory",
  "messages.responsePrefix",
  "meta",
  "models",
  "session",
  "channels.defaults",
  ...["groups", "heartbeat", "dms", "retry", "network", "customCommands", "commands"].flatMap((key) => [
    `channels.*.${key}`,
    `channels.*.accounts.*.${key}`,
  ]),
].map((text) => text.split("."))

/** Also true for what guards the door. */
export function isOwnersPath(path: ConfigPath): boolean {
  return isProtectedPath(path) || owners.some((pattern) => overlap(pattern, path))
}

/** Also true for a section that contains a guarded key: replacing the section would replace the key. */
export function isProtectedPath(path: ConfigPath): boolean {
  return path.includes(includeKey) || guarded.some((pattern) => overlap(pattern, path)) || isSecret(configSchema, path)
}

function overlap(pattern: readonly string[], path: ConfigPath): boolean {
  const length = Math.min(pattern.length, path.length)
  for (let index = 0; index < length; index += 1) {
    if (pattern[index] !== "*" && pattern[index] !== String(path[index])) return false
  }
  return true
}
