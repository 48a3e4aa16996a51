import assert from "node:assert/strict"
import { test } from "node:test"
import { problemOfImport } from "./channel-contract.mjs"

const refused: [file: string, source: string][] = [
  ["src/gateway/page/chat.ts", "../../channels/web/store.ts"],
  ["src/agent/turn.ts", "../channels/chatapp/index.ts"],
  ["src/delivery/delivery.ts", "../channels/web/contract.ts"],
  ["src/channels/web/intake.ts", "../chatapp/inbound/plan.ts"],
  ["src/channels/web/words.ts", "../chatapp/media/fetch.ts"],
  ["src/channels/shared/media/open.ts", "../../chatapp/client.ts"],
  ["src/channels/chatapp/polling.ts", "../web/index.ts"],
  ["src/channels/terminal/intake.ts", "../web/words.ts"],
  ["src/channels/pairing.ts", "./chatapp/settings.ts"],
  ["src/channels/commands/handler.ts", "../web/place.ts"],
  ["src/config/load.ts", "../channels/web/store.ts"],
  ["cli/commands/agent.ts", "../../src/channels/web/contract.ts"],
  ["dashboard/api.ts", "../src/channels/web/contract.ts"],
  ["src/gateway/api.ts", "../channels/index.ts"],
  ["src/channels/web/intake.ts", "../index.ts"],
  ["src/main-page.ts", "./channels/web/index.ts"],
]
const allowed: [file: string, source: string][] = [
  ["src/main/web-chat.ts", "../channels/web/index.ts"],
  ["src/main.ts", "./channels/chatapp/index.ts"],
  ["src/config/schema.ts", "../channels/web/config.ts"],
  ["src/setup/bot.ts", "../channels/chatapp/client.ts"],
  ["src/gateway/api.ts", "../channels/contract.ts"],
  ["src/channels/web/intake.ts", "./place.ts"],
  ["src/channels/web/intake.ts", "../commands/index.ts"],
  ["src/channels/web/words.ts", "../shared/media/sniff.ts"],
  ["src/channels/chatapp/outbound/media.ts", "../../shared/media/open.ts"],
  ["cli/agent/ask.ts", "../../src/channels/terminal/contract.ts"],
  ["src/agent/turn.test.ts", "../channels/chatapp/index.ts"],
  ["cli/commands/channels.ts", "../../src/channels/cli.ts"],
  ["src/channels/index.ts", "./web/index.ts"],
  ["src/agent/turn.ts", "zod"],
]

for (const [file, source] of refused)
  test(`${file} may not import ${source}`, () =>
    assert.match(problemOfImport(file, source) ?? "", /knows the channels?/))
for (const [file, source] of allowed)
  test(`${file} may import ${source}`, () => assert.equal(problemOfImport(file, source), undefined))
