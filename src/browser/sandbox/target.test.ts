// Where a call goes: into the session's sandbox, to this machine or to a node's; and what may not leave where it is.
import assert from "node:assert/strict"
import { test } from "node:test"
import { systemClock } from "../../kernel/index.ts"
import { Whereabouts } from "../elsewhere/choose.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import type { NodeBrowser, NodeLinks } from "../elsewhere/links.ts"
import type { BrowserCore } from "../core.ts"
import type { BrowserToolInput } from "../tool/input.ts"
import type { SandboxBrowsers, SandboxLinks } from "./browsers.ts"
import { type TargetOptions, decide, findTarget } from "./target.ts"

const studio: NodeBrowser = { id: "n1", name: "studio", profiles: ["managed"], defaultProfile: "managed" }

interface World {
  /** Whether sessions are sandboxed; unset: there are no sandboxes. */
  sandboxed?: boolean
  mode?: "all" | "off"
  mayLeave?: boolean
  /** Connected nodes; unset: none are taken in. */
  nodes?: NodeBrowser[]
  nodeMode?: "auto" | "manual"
}

function optionsOf({ sandboxed, mode = "all", mayLeave = false, nodes, nodeMode = "auto" }: World) {
  const whereabouts = new Whereabouts(systemClock)
  const links = {
    settings: () => ({ mode: nodeMode }),
    browsers: () => nodes ?? [],
    named: () => ({ id: "n1", name: "studio", isConnected: true }),
  } as unknown as NodeLinks
  const options: TargetOptions = {
    core: () => "of this machine" as unknown as BrowserCore,
    ...(sandboxed === undefined
      ? {}
      : {
          sandbox: {
            settings: () => ({ mode, browser: { allowHostControl: mayLeave } }),
            isSandboxed: async () => sandboxed,
          } as unknown as SandboxLinks,
          sandboxed: () => ({ coreFor: (key: string) => `of ${key}` }) as unknown as SandboxBrowsers,
        }),
    ...(nodes === undefined
      ? {}
      : { nodes: { links, coreOf: (id: string) => `of ${id}` as unknown as ToolCore, whereabouts } }),
  }
  return { options, whereabouts }
}

const owner = { agentId: "main", sessionKey: "agent:main:main", trusted: true }
const stranger = { ...owner, sessionKey: "hook:one", trusted: false }
const tabs = { action: "tabs" } as const
const attach = { action: "attach" } as const

const inside: World = { sandboxed: true }
const near = { nodes: [studio] }
const goes: [what: string, World, BrowserToolInput, typeof owner, kind: string, why: RegExp][] = [
  ["without sandboxes and nodes", {}, tabs, owner, "host", /takes in no nodes/],
  ["of a sandboxed session", inside, tabs, owner, "sandbox", /session is sandboxed/],
  ["for its sandbox by name", inside, { ...tabs, profile: "sandbox" }, owner, "sandbox", /session is sandboxed/],
  [
    "for a sandbox of a session that has none",
    { sandboxed: false },
    { ...tabs, target: "sandbox" },
    owner,
    "sandbox",
    /was asked for/,
  ],
  [
    "for the host of a session that may leave",
    { ...inside, mayLeave: true },
    { ...tabs, target: "host" },
    owner,
    "host",
    /target host was asked for/,
  ],
  [
    "for the person's own tabs",
    near,
    { ...tabs, profile: "relay" },
    owner,
    "host",
    /own tabs are on the gateway's machine/,
  ],
  ["for a tab of the person's own", near, attach, owner, "host", /own tabs are on the gateway's machine/],
  ["for a tab of the person's own on a node", near, { ...attach, node: "studio" }, owner, "node", /was named/],
  ["that says nothing, with a node", near, tabs, owner, "node", /only node/],
  ["that says nothing, of a stranger", near, tabs, stranger, "host", /not sent to nodes by themselves/],
  ["for the host, with a node", near, { ...tabs, target: "host" }, owner, "host", /target host was asked for/],
  ["for a node", near, { ...tabs, target: "node" }, owner, "node", /only node/],
  ["for a node by name alone", near, { ...tabs, node: "studio" }, owner, "node", /was named/],
  [
    "for a node, of a stranger who may leave",
    { ...near, sandboxed: false, mayLeave: true },
    { ...tabs, target: "node" },
    stranger,
    "node",
    /only node/,
  ],
]
for (const [what, world, value, asked, kind, why] of goes) {
  test(`a call ${what} goes to the ${kind}`, async () => {
    const decision = await decide(optionsOf(world).options, value, asked)
    assert.equal(decision.kind, kind)
    assert.match(decision.why, why)
  })
}

const refused: [what: string, World, BrowserToolInput, typeof owner, code: string][] = [
  ["for the host of a session that may not leave", inside, { ...tabs, target: "host" }, owner, "forbidden"],
  ["for the person's own tabs from a sandbox", inside, { ...tabs, profile: "relay" }, owner, "forbidden"],
  ["for a tab of the person's own from a sandbox", inside, { ...attach, target: "sandbox" }, owner, "forbidden"],
  ["for a node from a sandbox", { ...inside, ...near }, { ...tabs, node: "studio" }, owner, "forbidden"],
  ["for a node, of a stranger", near, { ...tabs, node: "studio" }, stranger, "forbidden"],
  ["for another profile in a sandbox", inside, { ...tabs, profile: "managed" }, owner, "bad-request"],
  [
    "for a sandbox where they are switched off",
    { sandboxed: false, mode: "off" },
    { ...tabs, target: "sandbox" },
    owner,
    "sandbox-unavailable",
  ],
  ["for a sandbox where there are none", {}, { ...tabs, target: "sandbox" }, owner, "bad-request"],
  ["for a node where none is taken in", {}, { ...tabs, target: "node" }, owner, "bad-request"],
  ["for a node by name where none is taken in", {}, { ...tabs, node: "studio" }, owner, "bad-request"],
  ["for the host and a node at once", near, { ...tabs, target: "host", node: "studio" }, owner, "bad-request"],
]
for (const [what, world, value, asked, code] of refused) {
  test(`a call ${what} is refused`, async () => {
    const { options } = optionsOf(world)
    await assert.rejects(decide(options, value, asked), { code })
    await assert.rejects(findTarget(options, value, asked), { code })
  })
}

test("a session works on in the browser where it has begun, and is told when that is gone", async () => {
  const connected = [studio]
  const { options, whereabouts } = optionsOf({ nodes: connected })
  const kindOf = async (value: BrowserToolInput = tabs, asked = owner) => (await findTarget(options, value, asked)).kind
  // What is to wait for a tab of the person's own has begun nowhere.
  assert.equal(await kindOf(attach), "host")
  assert.equal(whereabouts.of(owner.sessionKey), undefined)
  assert.equal(await kindOf(), "node")
  connected.push({ ...studio, id: "n2", name: "laptop" })
  assert.match((await decide(options, tabs, owner)).why, /works in the browser of the node studio/)
  connected.shift()
  await assert.rejects(kindOf(), { code: "node-not-connected", hint: /target host/ })
  assert.equal(await kindOf({ ...tabs, target: "host" }), "host")
  assert.match((await decide(options, tabs, owner)).why, /works in the browser of this machine/)
  assert.equal(await kindOf(tabs, { ...owner, sessionKey: "another" }), "node")
})

test("where nodes are used only by name, a session that has been at one comes home by itself", async () => {
  const { options } = optionsOf({ ...near, nodeMode: "manual" })
  assert.equal((await findTarget(options, { ...tabs, node: "studio" }, owner)).kind, "node")
  const { kind, why } = await decide(options, tabs, owner)
  assert.deepEqual([kind, /manual/.test(why)], ["host", true])
})

test("each place has its own browsers", async () => {
  const core = async (world: World, value: BrowserToolInput = tabs) =>
    (await findTarget(optionsOf(world).options, value, owner)).core as unknown
  assert.equal(await core({}), "of this machine")
  assert.equal(await core(inside), "of agent:main:main")
  assert.equal(await core(near), "of n1")
})
