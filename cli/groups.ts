// The commands of `svc`, as a flat list. `load` brings in the code of one group, so that `svc browser tabs` never
// pays for the others; names and descriptions stand here so that `svc help` loads nothing.
import type { Command } from "commander"
import type { CliContext } from "./context.ts"

export type AddCommands = (program: Command, context: CliContext) => void | Promise<void>

export interface CommandGroup {
  name: string
  /** Older names, which go on working. */
  aliases?: readonly string[]
  description: string
  load(): Promise<AddCommands>
}

export const commandGroups: readonly CommandGroup[] = [
  {
    name: "setup",
    description: "Set the gateway up: model, bot, browser and owner, each tried at once",
    load: async () => (await import("./commands/setup.ts")).addSetup,
  },
  {
    name: "gateway",
    description: "Run the gateway in the foreground",
    load: async () => (await import("./commands/gateway.ts")).addGateway,
  },
  {
    name: "status",
    description: "Show the state of the running gateway",
    load: async () => (await import("./commands/status.ts")).addStatus,
  },
  {
    name: "dashboard",
    description: "Open the gateway's page in the browser, signed in by a link that works once",
    load: async () => (await import("./commands/dashboard.ts")).addDashboard,
  },
  {
    name: "doctor",
    description: "Find what is wrong with this installation, with the next step for each",
    load: async () => (await import("./commands/doctor.ts")).addDoctor,
  },
  {
    name: "stop",
    description: "Stop the running gateway and wait until it has ended",
    load: async () => (await import("./commands/stop.ts")).addStop,
  },
  {
    name: "service",
    description: "Run the gateway as a service of this machine",
    load: async () => (await import("./commands/service.ts")).addService,
  },
  {
    name: "logs",
    description: "Show the gateway's log; works without a running gateway too",
    load: async () => (await import("./commands/logs.ts")).addLogs,
  },
  {
    name: "channels",
    description: "Show the connections to chat platforms",
    load: async () => (await import("./commands/channels.ts")).addChannels,
  },
  {
    name: "pairing",
    description: "Let people write to the bot, or no longer",
    load: async () => (await import("./commands/pairing.ts")).addPairing,
  },
  {
    name: "approvals",
    description: "Answer what the agent asks to be allowed",
    load: async () => (await import("./commands/approvals.ts")).addApprovals,
  },
  {
    name: "sandbox",
    description: "Look at what runs in sandboxes, and end it",
    load: async () => (await import("./commands/sandbox.ts")).addSandbox,
  },
  {
    name: "agent",
    description: "Talk to the agent from this terminal",
    load: async () => (await import("./commands/agent.ts")).addAgent,
  },
  {
    name: "message",
    description: "Send messages to chats, edit, delete and react to them",
    load: async () => (await import("./commands/message.ts")).addMessage,
  },
  {
    name: "runs",
    description: "Look at what the agent was asked to do",
    load: async () => (await import("./commands/runs.ts")).addRuns,
  },
  {
    name: "sessions",
    description: "Look at conversations, search, export, compact and delete them",
    load: async () => (await import("./commands/sessions.ts")).addSessions,
  },
  {
    name: "memory",
    description: "Look for what was said and noted, and read and write notes",
    load: async () => (await import("./commands/memory.ts")).addMemory,
  },
  {
    name: "outbox",
    aliases: ["deliveries"],
    description: "Look at messages to chats: what waits, was sent or failed; send it again",
    load: async () => (await import("./commands/outbox.ts")).addOutbox,
  },
  {
    name: "events",
    description: "List system events, newest first",
    load: async () => (await import("./commands/events.ts")).addEvents,
  },
  {
    name: "heartbeat",
    description: "Show the agents' heartbeats, or run one now",
    load: async () => (await import("./commands/heartbeat.ts")).addHeartbeat,
  },
  {
    name: "cron",
    description: "Tell the agent things at times: reminders, repeated tasks",
    load: async () => (await import("./commands/cron.ts")).addCron,
  },
  {
    name: "usage",
    description: "Show the tokens and the cost of model calls",
    load: async () => (await import("./commands/usage.ts")).addUsage,
  },
  {
    name: "pause",
    description: "Pause everything: nothing starts until svc resume",
    load: async () => (await import("./commands/pause.ts")).addPause,
  },
  {
    name: "resume",
    description: "End the pause; what has waited goes on",
    load: async () => (await import("./commands/pause.ts")).addResume,
  },
  {
    name: "models",
    description: "Show the configured models, and try whether they work",
    load: async () => (await import("./commands/models.ts")).addModels,
  },
  {
    name: "hooks",
    description: "Look at deliveries of webhooks, replay them, try mappings",
    load: async () => (await import("./commands/hooks.ts")).addHooks,
  },
  {
    name: "webhooks",
    description: "Set up senders of webhooks",
    load: async () => (await import("./commands/webhooks.ts")).addWebhooks,
  },
  {
    name: "browser",
    description: "Control the browser",
    load: async () => (await import("./commands/browser.ts")).addBrowser,
  },
  {
    name: "nodes",
    description: "Look at the machines that offer their browser, and let them in or not",
    load: async () => (await import("./commands/nodes.ts")).addNodes,
  },
  {
    name: "node",
    description: "Let the gateway on another machine use this one's browser",
    load: async () => (await import("./commands/node.ts")).addNode,
  },
  {
    name: "mcp",
    description: "Give the gateway's tools to other programs, and use those of others",
    load: async () => (await import("./commands/mcp.ts")).addMcp,
  },
  {
    name: "secrets",
    description: "Keep what the agent fills into pages and never sees",
    load: async () => (await import("./commands/secrets.ts")).addSecrets,
  },
  {
    name: "token",
    description: "Make, list and revoke tokens with less than everything",
    load: async () => (await import("./commands/token.ts")).addToken,
  },
  {
    name: "audit",
    description: "Show who did what through which door",
    load: async () => (await import("./commands/audit.ts")).addAudit,
  },
  {
    name: "config",
    description: "Read, change and check the configuration file",
    load: async () => (await import("./commands/config.ts")).addConfig,
  },
  {
    name: "backup",
    description: "Make, check, list and restore backups of the state folder",
    load: async () => (await import("./commands/backup.ts")).addBackup,
  },
  {
    name: "update",
    description: "Bring svc to a newer version, and back if that does not work",
    load: async () => (await import("./commands/update.ts")).addUpdate,
  },
  {
    name: "emulator",
    description: "Run the chat platform emulator, for trying things out without the real platform",
    load: async () => (await import("./commands/emulator.ts")).addEmulator,
  },
  {
    name: "version",
    description: "Print the version of this program, and of the gateway that runs",
    load: async () => (await import("./commands/version.ts")).addVersion,
  },
  {
    name: "completion",
    description: "Print a script that completes svc's commands in a shell",
    load: async () => (await import("./commands/completion.ts")).addCompletion,
  },
]
