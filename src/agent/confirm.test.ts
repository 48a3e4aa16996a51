// Which calls a rule of the owner's fits.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { toolContext } from "../../test/support/tool-context.ts"
import { type ConfirmRule, confirmationFor } from "./confirm.ts"
import type { Tool } from "./tool.ts"

const shop: Tool = {
  name: "mcp_shop_buy",
  description: "",
  input: z.unknown(),
  output: "trusted",
  repeatable: () => false,
  describe: () => ({
    actions: ["act", "click"],
    sites: ["pay.shop.example:8443", "ads.example"],
    summary: "Click",
    action: { element: "Buy" },
  }),
  run: async () => ({ content: [] }),
}
const { describe: _own, ...bare } = shop
const route = { channel: "chatapp", account: "default", chatId: "1", chatKind: "private" } as const

const isAsked = async (rule: ConfirmRule, more = {}, tool: Tool = shop) =>
  (await confirmationFor([rule], tool, { action: "buy", n: 2 }, toolContext({ route, ...more }))) !== undefined

test("what a rule leaves out fits everything, and of each list one entry has to fit", async () => {
  const tool = "mcp_shop_buy"
  const fits: ConfirmRule[] = [
    { tool },
    { tool: "MCP_*" },
    { tool: "*" },
    { tool: "mcp_*_buy" },
    { tool, actions: ["type", "Click"] },
    { tool, actions: ["act"] },
    { tool, channels: ["chatapp"], origins: ["owner"], sites: ["pay.shop.example:8443"] },
    { tool, sites: ["other.example", "www.ads.example"] },
    { tool, sites: ["*.ads.example"] },
    { tool: " mcp_*_*y" },
    { tool: "mcp_shop_buy*" },
    { tool: "mcp_*shop_*buy" },
  ]
  for (const rule of fits) assert.equal(await isAsked(rule), true, JSON.stringify(rule))
  const others: ConfirmRule[] = [
    { tool: "mcp_shop" },
    { tool: "mail_*" },
    { tool: "mcp_*_sell_*" },
    { tool: "mcp_*_sell" },
    { tool: "mcp_shop_buy*_buy" },
    { tool: "mcp_*shop_buy*buy" },
    { tool, actions: ["type"] },
    { tool, channels: ["web", "none"] },
    { tool, origins: ["group-member"] },
    { tool, sites: ["shop.example", "*.shop.example"] },
    { tool, actions: ["click"], sites: ["elsewhere.example"] },
  ]
  for (const rule of others) assert.equal(await isAsked(rule), false, JSON.stringify(rule))
  assert.equal(await isAsked({ tool, channels: ["none"] }, { route: null }), true)
})

test("a tool that does not describe its calls is asked about with its whole input", async () => {
  assert.equal(await isAsked({ tool: "*", actions: ["buy"] }, {}, bare as Tool), true)
  assert.equal(await isAsked({ tool: "*", sites: ["ads.example"] }, {}, bare as Tool), false)
  for (const input of [{ action: 5 }, { n: 2 }, ["buy"]]) {
    const rules = [{ tool: "*", actions: ["buy"] }]
    assert.equal(await confirmationFor(rules, bare as Tool, input, toolContext()), undefined)
  }
  const asked = await confirmationFor([{ tool: "*" }], bare as Tool, { action: "buy", n: 2 }, toolContext())
  assert.deepEqual([asked?.action, asked?.byPolicy], [{ action: "buy", n: 2 }, true])
})
