// Whether words that were taken in may still be acted on, by the settings of the moment.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Asker } from "../../agent/turn-input.ts"
import type { Route } from "../../sessions/route.ts"
import { startBench } from "./test-bench/bench.ts"

const direct = (chatId: string): Route => ({ channel: "chatapp", account: "default", chatId, chatKind: "private" })
const inGroup: Route = { channel: "chatapp", account: "default", chatId: "-100", chatKind: "supergroup", threadId: "5" }

const owner: Asker = { id: "42", origin: "owner", isAuthorised: true }
const approved: Asker = { id: "7", username: "bob", origin: "approved-sender", isAuthorised: true }
const member: Asker = { id: "9", origin: "group-member", isAuthorised: false }

test("what waits counts only while its sender is let in, with no less standing than before", async (context) => {
  const bench = await startBench({ chatapp: { allowFrom: [42] } })
  context.after(() => bench.end())
  const cases: [settings: Record<string, unknown>, route: Route, asker: Asker, isHeard: boolean][] = [
    [{ allowFrom: [42] }, direct("42"), owner, true],
    [{ allowFrom: [1] }, direct("42"), owner, false],
    [{ allowFrom: [42], dmPolicy: "disabled" }, direct("42"), owner, false],
    [{ allowFrom: ["*"], dmPolicy: "open" }, direct("42"), owner, false],
    [{ allowFrom: ["*"], dmPolicy: "open" }, direct("9"), member, true],
    [{ allowFrom: [42, 7] }, direct("7"), approved, true],
    [{ allowFrom: [42] }, direct("7"), approved, false],
    [{ allowFrom: [42], groupAllowFrom: [42] }, inGroup, owner, true],
    [{ allowFrom: [], groupAllowFrom: [42] }, inGroup, owner, false],
    [{ allowFrom: [42], groupAllowFrom: [42], groups: { "-200": {} } }, inGroup, owner, false],
    [
      { allowFrom: [42], groupAllowFrom: [42], groups: { "-100": { topics: { "5": { enabled: false } } } } },
      inGroup,
      owner,
      false,
    ],
    [{ allowFrom: [42], groupPolicy: "open" }, inGroup, member, true],
    [{ allowFrom: [42], groupPolicy: "open" }, inGroup, approved, false],
    [{ allowFrom: [42], groupPolicy: "disabled" }, inGroup, member, false],
  ]
  for (const [settings, route, asker, isHeard] of cases) {
    bench.setConfig(settings)
    assert.equal(bench.channel.isStillHeard(route, asker), isHeard, JSON.stringify([settings, route, asker]))
  }
})
