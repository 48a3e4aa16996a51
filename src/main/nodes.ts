// Nodes with what they need of the rest: the chat in which an owner is asked whether to let one in, the configuration of where
// browser calls go, and the browser service, which sends its requests to them.
import type { BrowserService, NodeLinks } from "../browser/index.ts"
import type { CommandServices } from "../channels/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import type { ReplyButton } from "../delivery/contract.ts"
import { type NodeSummary, Nodes, nodePath } from "../nodes/index.ts"
import type { NodeRow, Write } from "../store/index.ts"
import type { ApprovalParts } from "./approvals.ts"
import type { Core } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"
import { type NodeTabs, createNodeTabs } from "./node-tabs.ts"
import { ownersChat } from "./owners-chat.ts"
import { createTabWaits } from "./tab-waits.ts"

export interface NodeParts {
  /** For the gateway's listener. */
  mounted: { path: string; upgrade: Nodes["upgrade"] }
  /** For the browser service. */
  links: NodeLinks
  actions: GatewayActions["nodes"]
  /** For `/nodes`. */
  commands: CommandServices["nodes"]
  /** For the browser service: sessions that wait for a tab, of this machine too. */
  tabWaits: NodeTabs["waits"]
  start(): void
  stop(): Promise<void>
}

/** `chats` and `personTabs`: there are none yet when this is composed. */
export function composeNodes(
  core: Core,
  { chats, personTabs }: { chats: () => ApprovalParts; personTabs: BrowserService["personTabs"] },
): NodeParts {
  const { store, clock, ids, background, redactor, environment } = core
  const nodes = new Nodes({
    store,
    stateFolder: environment.stateFolder,
    clock,
    ids,
    log: core.log.child({ part: "nodes" }),
    background,
    redactor,
    tell: (write, row) => tell(core, chats(), write, row),
  })
  const tabs = createNodeTabs(core, {
    waits: createTabWaits(core),
    isConnected: (id) => nodes.connected.some((node) => node.id === id && node.browser !== undefined),
    tabs: personTabs,
  })
  return {
    mounted: { path: nodePath, upgrade: (request, socket, head) => nodes.upgrade(request, socket, head) },
    links: linksOf(core, nodes),
    actions: {
      list: () => nodes.list(),
      approve: (node) => nodes.approve(node, "svc"),
      revoke: (node) => nodes.revoke(node, "svc"),
      rename: (node, name) => nodes.rename(node, name),
    },
    commands: {
      describe: () => describeAll(nodes.list()),
      async decide(decision, wanted, by) {
        const node = await nodes[decision](wanted, by)
        const who = { kind: "person" as const, id: by, name: "" }
        core.audit.record({ door: "chat", who, action: `node.${decision}`, target: node.name, outcome: "ok" })
        return decision === "approve"
          ? `The node ${node.name} is let in.`
          : `The node ${node.name} may not connect any more.`
      },
    },
    tabWaits: tabs.waits,
    start: tabs.start,
    async stop() {
      tabs.stop()
      await nodes.stop()
    },
  }
}

function linksOf(core: Core, nodes: Nodes): NodeLinks {
  return {
    settings: () => core.config().gateway.nodes.browser,
    browsers: () => nodes.connected.flatMap(({ id, name, browser }) => (browser ? [{ id, name, ...browser }] : [])),
    named: (name) => nodes.named(name),
    call(id, params, { files, takes, signal }) {
      const name = nodes.connected.find((node) => node.id === id)?.name ?? id
      const who = { kind: "gateway" as const, id: "", name: "" }
      core.audit.count({ door: "control", who, action: "node.use", target: name, outcome: "" })
      return nodes.call(id, { command: "browser.proxy", params, files, takes, signal })
    },
    transfers: (id) => nodes.transfersOf(id),
  }
}

/** In the owner's private chat; nobody else may let a machine in. */
function tell(core: Core, parts: ApprovalParts, write: Write, row: NodeRow): boolean {
  const route = ownersChat(parts, mainAgentId(core.config()))
  const sender = route && parts.senders().get(route.channel)
  if (!route || !sender) return false
  const canTouch = parts.channels().get(route.channel)?.commands.canShowButtons(route) ?? false
  const buttons: ReplyButton[][] = [
    [
      { text: "Let it in", data: `/nodes approve ${row.code}`, style: "success", runs: true },
      { text: "Turn away", data: `/nodes revoke ${row.id}`, style: "danger", runs: true },
    ],
  ]
  const typed = canTouch ? "" : `\n\nAnswer with \`/nodes approve ${row.code}\` or \`/nodes revoke ${row.id}\`.`
  const text =
    `**A machine asks to be a node**\n\n${row.name} (${row.platform}), from ${row.address || "an unknown address"}.\n\n` +
    `Let it in only if \`svc node run\` on that machine shows the code \`${row.code}\`: its browser can then be used from here.${typed}`
  const rows = sender.plan(route, { text, media: [], noPreview: true, ...(canTouch ? { buttons } : {}) })
  for (const each of rows) write.addOutbox(each)
  return rows.length > 0
}

function describeAll(nodes: readonly NodeSummary[]): string {
  const shown = nodes.filter(({ state, code }) => state === "approved" || code !== null)
  if (shown.length === 0) return "There are no nodes. On another machine: `svc node run --gateway <address>`"
  return shown.map(describeOne).join("\n")
}

function describeOne({ name, code, connected, browser }: NodeSummary): string {
  if (code !== null) return `- ${name}: asks to be let in, with the code \`${code}\``
  if (!connected) return `- ${name}: not connected`
  return `- ${name}: connected${browser ? `, offers ${browser.profiles.join(", ")}` : ", offers no browser"}`
}
