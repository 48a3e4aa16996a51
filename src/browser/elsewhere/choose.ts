// Which machine a call of the tool goes to when it may be a node's: what the call says, what the configuration says, and who is
// connected. A session that has begun on one machine stays there while it works: its tabs and refs are there.
import { AppError, type Clock } from "../../kernel/index.ts"
import type { NodeBrowser, NodeLinks } from "./links.ts"

export interface Asked {
  /** `target: node`, or a node that is named. */
  isExplicit: boolean
  /** Of the node. */
  name: string | undefined
  profile: string | undefined
}

export interface Choice {
  node: NodeBrowser | undefined
  /** One sentence, for people. */
  why: string
}

/** Throws for a node that was asked for and cannot be had. */
export function chooseNode(links: NodeLinks | undefined, { isExplicit, name, profile }: Asked): Choice {
  const { mode = "off", node: configured } = links?.settings() ?? {}
  if (isExplicit) return explicit(links, name ?? configured)
  const here = (why: string): Choice => ({ node: undefined, why })
  if (!links) return here("this gateway takes in no nodes")
  if (mode === "off") return here("gateway.nodes.browser.mode is off")
  if (mode === "manual") return here("gateway.nodes.browser.mode is manual: only a call that names a node goes to one")
  const browsers = links.browsers()
  const fits = (node: NodeBrowser) => profile === undefined || node.profiles.includes(profile)
  if (configured !== undefined) {
    const found = byName(links, browsers, configured)
    if (!found) return here(`the node ${configured} (gateway.nodes.browser.node) is not connected`)
    if (!fits(found)) return here(`the node ${found.name} does not offer the profile ${profile ?? ""}`)
    return { node: found, why: `gateway.nodes.browser.node is ${found.name}` }
  }
  const able = browsers.filter(fits)
  const [only] = able
  if (!only)
    return here(browsers.length === 0 ? "no node with a browser is connected" : "no connected node offers the profile")
  if (able.length > 1) return here(`several nodes are connected (${namesOf(able)}) and none is named`)
  return { node: only, why: `${only.name} is the only node with a browser that is connected` }
}

function explicit(links: NodeLinks | undefined, name: string | undefined): Choice {
  if (!links || links.settings().mode === "off") {
    throw new AppError("bad-request", "This gateway uses no browsers of nodes", {
      hint: "gateway.nodes.browser.mode decides; leave target and node out",
    })
  }
  const browsers = links.browsers()
  if (name !== undefined) {
    const { id, name: known, isConnected } = links.named(name)
    const found = browsers.find((each) => each.id === id)
    if (found) return { node: found, why: `the node ${known} was named` }
    const what = isConnected ? "offers no browser now" : "is not connected"
    throw new AppError("node-not-connected", `The node ${known} ${what}`, {
      hint: isConnected
        ? "nodeHost.browserProxy on the node decides"
        : "Run svc node run on it; svc nodes list shows them",
    })
  }
  const [only] = browsers
  if (!only) {
    throw new AppError("node-not-connected", "No node with a browser is connected", {
      hint: "svc nodes list shows them",
    })
  }
  if (browsers.length === 1)
    return { node: only, why: `${only.name} is the only node with a browser that is connected` }
  throw new AppError("node-ambiguous", `Several nodes are connected: ${namesOf(browsers)}`, {
    hint: "Name one by node, or set gateway.nodes.browser.node",
  })
}

function byName(links: NodeLinks, browsers: readonly NodeBrowser[], name: string): NodeBrowser | undefined {
  try {
    const { id } = links.named(name)
    return browsers.find((each) => each.id === id)
  } catch (error) {
    // The one that the configuration names was revoked, or has never come.
    if (error instanceof AppError) return undefined
    throw error
  }
}

function namesOf(nodes: readonly NodeBrowser[]): string {
  return nodes.map(({ name }) => name).join(", ")
}

/** As long as a session counts as working in the browser. */
const stayMs = 10 * 60_000
const mostSessions = 1_000

/** Where sessions work whose calls say nothing: `host`, or the id of a node. */
export class Whereabouts {
  readonly #clock: Clock
  readonly #places = new Map<string, { place: string; at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(session: string): string | undefined {
    const known = this.#places.get(session)
    return known && this.#clock.monotonic() - known.at < stayMs ? known.place : undefined
  }

  note(session: string, place: string): void {
    this.#places.delete(session)
    this.#places.set(session, { place, at: this.#clock.monotonic() })
    if (this.#places.size > mostSessions) this.#places.delete(this.#places.keys().next().value as string)
  }
}
