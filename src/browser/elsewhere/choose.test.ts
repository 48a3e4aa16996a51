// Which machine's browser a call goes to, and why: what the call says, what the configuration says, who is connected.
import assert from "node:assert/strict"
import { test } from "node:test"
import { AppError, systemClock } from "../../kernel/index.ts"
import { Whereabouts, chooseNode } from "./choose.ts"
import type { NodeLinks } from "./links.ts"

const nodes = {
  studio: { id: "n1", name: "studio", profiles: ["managed", "work"], defaultProfile: "managed" },
  laptop: { id: "n2", name: "laptop", profiles: ["managed"], defaultProfile: "managed" },
}
type Name = keyof typeof nodes

/** `offering` are connected and have a browser; `mute` is connected and has none. */
function linksOf(offering: Name[], settings: ReturnType<NodeLinks["settings"]> = { mode: "auto" }): NodeLinks {
  const known = { ...nodes, mute: { id: "n3", name: "mute" }, away: { id: "n4", name: "away" } }
  return {
    settings: () => settings,
    browsers: () => offering.map((name) => nodes[name]),
    named(name) {
      const found = Object.values(known).find((each) => each.name === name || each.id === name)
      if (!found) throw new AppError("node-not-found", `There is no node ${name}`)
      return { id: found.id, name: found.name, isConnected: found.name !== "away" }
    },
    call: () => Promise.reject(new Error("nothing is called")),
    transfers: () => [],
  }
}

const asks = { isExplicit: false, name: undefined, profile: undefined }
const names = { ...asks, isExplicit: true }

test("a call that says nothing goes to the one node that fits, and stays here otherwise, with the reason", () => {
  const auto = (node?: string) => ({ mode: "auto" as const, node })
  for (const [links, asked, node, why] of [
    [undefined, asks, undefined, /takes in no nodes/],
    [linksOf(["studio"], { mode: "off" }), asks, undefined, /mode is off/],
    [linksOf(["studio"], { mode: "manual", node: "studio" }), asks, undefined, /mode is manual/],
    [linksOf([]), asks, undefined, /no node with a browser is connected/],
    [linksOf(["studio"]), asks, "studio", /studio is the only node/],
    [linksOf(["studio"]), { ...asks, profile: "other" }, undefined, /no connected node offers the profile/],
    [linksOf(["studio", "laptop"]), asks, undefined, /several nodes are connected \(studio, laptop\)/],
    [linksOf(["studio", "laptop"]), { ...asks, profile: "work" }, "studio", /studio is the only node/],
    [linksOf(["studio", "laptop"], auto("laptop")), asks, "laptop", /gateway\.nodes\.browser\.node is laptop/],
    [
      linksOf(["studio", "laptop"], auto("laptop")),
      { ...asks, profile: "work" },
      undefined,
      /laptop does not offer .*work/,
    ],
    [linksOf(["studio"], auto("laptop")), asks, undefined, /laptop .* is not connected/],
    [linksOf(["studio"], auto("revoked")), asks, undefined, /revoked .* is not connected/],
  ] as const) {
    const choice = chooseNode(links, asked)
    assert.equal(choice.node?.name, node, choice.why)
    assert.match(choice.why, why)
  }
})

test("a node that is asked for is had or refused, and none takes its place", () => {
  for (const [links, name, node] of [
    [linksOf(["studio"]), undefined, "studio"],
    [linksOf(["studio", "laptop"]), "laptop", "laptop"],
    [linksOf(["studio", "laptop"]), "n1", "studio"],
    [linksOf(["studio", "laptop"], { mode: "manual", node: "laptop" }), undefined, "laptop"],
    [linksOf(["studio", "laptop"], { mode: "auto", node: "laptop" }), "studio", "studio"],
  ] as const)
    assert.equal(chooseNode(links, { ...names, name }).node?.name, node)
  for (const [links, name, error] of [
    [undefined, undefined, { code: "bad-request", hint: /leave target and node out/ }],
    [linksOf(["studio"], { mode: "off" }), "studio", { code: "bad-request" }],
    [linksOf([]), undefined, { code: "node-not-connected", message: /No node with a browser/ }],
    [linksOf(["studio", "laptop"]), undefined, { code: "node-ambiguous", message: /studio, laptop/ }],
    [linksOf(["studio"]), "mute", { code: "node-not-connected", message: /offers no browser/, hint: /nodeHost/ }],
    [linksOf(["studio"]), "away", { code: "node-not-connected", message: /is not connected/, hint: /svc node run/ }],
    [linksOf(["studio"]), "unknown", { code: "node-not-found" }],
  ] as const)
    assert.throws(() => chooseNode(links, { ...names, name }), error)
})

test("a session stays where it works for ten minutes from its last call, and so many are remembered", () => {
  let at = 0
  const places = new Whereabouts({ ...systemClock, monotonic: () => at })
  places.note("mine", "n1")
  at += 9 * 60_000
  assert.equal(places.of("mine"), "n1")
  places.note("mine", "host")
  at += 9 * 60_000
  assert.equal(places.of("mine"), "host")
  assert.equal(places.of("another's"), undefined)
  at += 60_000
  assert.equal(places.of("mine"), undefined)
  places.note("mine", "n1")
  for (let n = 0; n < 999; n += 1) places.note(`s${n}`, "host")
  assert.equal(places.of("mine"), "n1")
  // The one that was used longest ago goes.
  places.note("mine", "n1")
  places.note("one more", "host")
  assert.deepEqual([places.of("mine"), places.of("s0"), places.of("s1")], ["n1", undefined, "host"])
})
