import assert from "node:assert/strict"
import { test } from "node:test"
import { systemClock, systemIds } from "../kernel/index.ts"
import { isHeartbeatAck, userMessage } from "./prompt.ts"
import type { TurnInput } from "./turn-input.ts"

const cases: [string, string, boolean, boolean][] = [
  ["the bare token", "HEARTBEAT_OK", false, true],
  ["blank text", "  \n", false, true],
  ["the token in bold", "**HEARTBEAT_OK**", false, true],
  ["the token in HTML", "<b>HEARTBEAT_OK</b>&nbsp;", false, true],
  ["the token first and a few words", "HEARTBEAT_OK all is quiet", false, true],
  ["the token last and a few words", "All is quiet. HEARTBEAT_OK", false, true],
  ["the token in the middle", "I say HEARTBEAT_OK now", false, false],
  ["the token and a long text", `HEARTBEAT_OK ${"word ".repeat(80)}`, false, false],
  ["the token with a picture", "HEARTBEAT_OK", true, false],
  ["another text", "The build is broken", false, false],
]
for (const [name, text, hasMedia, expected] of cases) {
  test(`${expected ? "takes" : "does not take"} ${name} for an acknowledgement`, () => {
    assert.equal(isHeartbeatAck(text, hasMedia, 300), expected)
  })
}

test("shows untrusted text without its boundary only when it is told so, and events within theirs all the same", () => {
  const input: TurnInput = {
    agentId: "main",
    sessionKey: "agent:main:hook:x",
    purpose: "hook",
    origin: "webhook",
    trusted: false,
    text: "the text",
    route: null,
  }
  const event = {
    id: 1,
    session_key: "",
    text: "an event",
    origin: "webhook",
    trusted: 0,
    created_at: 0,
    consumed_by: null,
  }
  const shown = (change: Partial<TurnInput>) =>
    JSON.stringify(userMessage({ ids: systemIds, clock: systemClock }, { ...input, ...change }, [event]).content)
  assert.equal(shown({}).match(/<untrusted-content /g)?.length, 2)
  assert.equal(shown({ wrap: true }).match(/<untrusted-content /g)?.length, 2)
  assert.equal(shown({ wrap: false }).match(/<untrusted-content /g)?.length, 1)
  assert.match(shown({ wrap: false }), /nthe text"}\]$/)
})
