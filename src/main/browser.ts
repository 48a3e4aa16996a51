// Browser control and the sandbox, which need each other: sandboxed sessions have browsers of their own, and what runs in a
// sandbox has the browsers' guarded proxy as its only way out.
import type { Tool, ToolPlace } from "../agent/tool.ts"
import { type BrowserService, type BrowserServiceOptions, createBrowserService } from "../browser/index.ts"
import { browserLinks } from "./browser-profiles.ts"
import { browserActions } from "./browser-view.ts"
import type { CommandServices } from "../channels/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import type { Core } from "./core.ts"
import type { ApprovalParts } from "./approvals.ts"
import { type NodeParts, composeNodes } from "./nodes.ts"
import { createOwnPorts } from "./own-ports.ts"
import { type SandboxParts, composeSandbox } from "./sandbox.ts"
import { composeSecrets } from "./secrets.ts"
import { type TakeoverParts, composeTakeovers } from "./takeovers.ts"

export interface BrowserParts {
  browser: BrowserService
  sandbox: SandboxParts
  nodes: NodeParts
  /** What the API can ask for. */
  actions: Pick<GatewayActions, "sandbox" | "secrets" | "browser" | "nodes" | "takeovers">
  /** What chat commands can. */
  commands: Pick<CommandServices, "shell" | "nodes">
  /** Of tabs that are in a person's hands. */
  hands: Pick<TakeoverParts, "desk" | "jobs" | "start">
  /** Those of both that work in this place. */
  tools(place: ToolPlace): readonly Tool[]
}

export function composeBrowser(
  core: Core,
  ports: Readonly<{ gateway: number; control: number }>,
  links: { control: Pick<BrowserServiceOptions, "token" | "admit" | "throttle">; chats: () => ApprovalParts },
): BrowserParts {
  const { environment, store, log, redactor, ids, clock, background } = core
  const secrets = composeSecrets(core)
  const nodes = composeNodes(core, {
    chats: links.chats,
    personTabs: (node, signal) => browser.personTabs(node, signal),
  })
  const takeovers = composeTakeovers(core, {
    browser: () => browser,
    sessions: () => links.chats().sessions,
    channels: () => links.chats().channels(),
    senders: () => links.chats().senders(),
    port: () => ports.gateway,
  })
  const sandbox = composeSandbox(core, () => browser.proxySocket())
  const browser: BrowserService = createBrowserService({
    secrets,
    takeovers: takeovers.waits,
    sandbox: sandbox.links,
    ...browserLinks(core),
    controlPort: ports.control,
    ownPorts: createOwnPorts(core.config, () => ports.gateway),
    stateFolder: environment.stateFolder,
    pruneTime: () => store.pruneTime(),
    environment: environment.variables,
    maxConnections: core.handles.perListener,
    log,
    redactor,
    ids,
    clock,
    background,
    ...links.control,
    nodes: nodes.links,
    tabWaits: nodes.tabWaits,
  })
  const tools = (place: ToolPlace) => [
    ...(core.config().browser.enabled ? [browser.tool] : []),
    ...sandbox.tools(place),
  ]
  return {
    browser,
    sandbox,
    nodes,
    tools,
    actions: {
      sandbox: sandbox.actions,
      secrets,
      takeovers: takeovers.actions,
      browser: browserActions(browser),
      nodes: nodes.actions,
    },
    hands: takeovers,
    commands: { shell: sandbox.shell, nodes: nodes.commands },
  }
}
