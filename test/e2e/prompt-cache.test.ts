// What a browser task costs with a provider that bills like the real ones: the prompt of each step begins as the one
// before it, to the byte, and is marked where the provider wants marks, so that most of it is read from the cache.
import assert from "node:assert/strict"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { isLong } from "../support/long.ts"
import { text, toolCall } from "../support/model-server/index.ts"
import { startPagesServer } from "../support/pages-server.ts"
import { createWorld } from "../support/world.ts"

const steps = 20

interface UsageRow {
  input: number
  cacheRead: number
}

async function browserTask(context: TestContext, kind: "anthropic" | "openai" | "openai-compatible") {
  const shop = await startPagesServer({ folder: join(import.meta.dirname, "..", "fixtures", "pages", "shop") })
  context.after(() => shop.stop())
  const world = await createWorld(context, {
    model: { billing: true },
    config: { browser: { enabled: true, defaultProfile: "managed" } },
  })
  context.after(() => endBrowsersOf(world.stateFolder))
  world.configure({
    models: { providers: { test: { kind, baseUrl: world.model.baseUrl, apiKey: "key-0123456789" } } },
    // The page is looked at again and again, and stays as it is.
    agents: { defaults: { model: "test/claude-sonnet-4-5", limits: { repeatedCalls: 100 } } },
  })
  let done = 0
  world.model.script((request) => {
    if (request.promptText().includes("thank you")) return text("ok")
    done += 1
    if (done === 1) return toolCall("browser", { action: "open", url: shop.url })
    return done < steps ? toolCall("browser", { action: "snapshot" }) : text("All bought.")
  })
  await world.start()
  world.say("do the shopping")
  await world.reply("All bought.", { timeoutMs: 60_000 })
  const rows = world.rows<UsageRow>(
    "select input_tokens as input, cache_read_tokens as cacheRead from usage order by id",
  )
  assert.equal(rows.length, steps)
  return { world, rows }
}

function shareRead(rows: readonly UsageRow[]): number {
  const sum = (key: keyof UsageRow) => rows.reduce((total, row) => total + row[key], 0)
  return sum("cacheRead") / sum("input")
}

/** The two services that find the same words again by themselves do so by one rule. */
const kinds = ["anthropic", "openai-compatible", ...(isLong ? (["openai"] as const) : [])] as const

for (const kind of kinds) {
  test(`a browser task of ${steps} steps reads most of its prompts from the cache (${kind})`, async (context) => {
    const { world, rows } = await browserTask(context, kind)
    const share = shareRead(rows)
    assert.ok(share >= 0.85, `${Math.round(share * 100)} % of the input was read from the cache`)
    // The next turn of the conversation begins with the same words.
    const before = world.rows<UsageRow>(
      "select input_tokens as input, cache_read_tokens as cacheRead from usage",
    ).length
    world.say("thank you")
    await world.reply("ok")
    const next = await world.until(
      "the turn is in the ledger",
      () =>
        world.rows<UsageRow>("select input_tokens as input, cache_read_tokens as cacheRead from usage order by id")[
          before
        ],
    )
    assert.ok(next.cacheRead / next.input > 0.6, JSON.stringify(next))
  })
}
