// Whatever a gateway's answers hold (names of strangers, titles of pages, words of senders), a terminal gets it as text.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram } from "./testing/run-program.ts"
import { answerJson, startStandIn } from "./testing/stand-in-gateway.ts"

// A window's title, C0 and C1 forms of "clear the screen", the marks of direction, a line written over.
const evil = "x\u001b]0;title\u0007\u009b2J\u202e\u2066\u061c\u0085\rE"
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const session = { key: evil, agentId: evil, kind: evil, sessionId: evil, createdAt: 0, updatedAt: 0, messages: 1 }
const shows = { showAlerts: true, showOk: true, useIndicator: true }
const heartbeat = { agentId: evil, session: evil, everyMs: 0, target: evil, shows, wouldSkip: evil }
const answers: [words: string, answer: unknown][] = [
  ["sessions show a --messages 0", { ok: true, ...session, tokens: 1, settings: { a: evil }, conversations: [] }],
  ["heartbeat status", { ok: true, heartbeats: [heartbeat] }],
  ["heartbeat now", { ok: true, runId: evil, agent: evil, outcome: evil }],
  [
    "token create --scope status --name a",
    { ok: true, id: evil, name: evil, scopes: [evil], token: evil, expiresAt: 0 },
  ],
  ["browser takeover", { ok: true, id: evil, url: evil, others: [evil], reason: evil, expiresAt: 0 }],
  ["dashboard --no-open", { ok: true, url: evil, others: [evil], expiresAt: 0, scopes: [evil] }],
  ["status", { ok: false, error: { code: "conflict", message: evil, hint: evil } }],
]

test("no command lets the words of others steer the terminal, in text or as JSON", async (context) => {
  for (const [words, answer] of answers) {
    const status = words === "status" ? 409 : 200
    const gateway = await startStandIn(answerJson(answer, status))
    context.after(() => gateway.stop())
    for (const more of [[], ["--json"]]) {
      const result = await runProgram([...words.split(" "), ...more], { environment: gateway.environment })
      const said = `${result.stdout}${result.stderr}`
      assert.match(said, /title/, `${words}: ${said}`)
      assert.doesNotMatch(said, unsafe, `${words} ${more.join("")}`)
      // The JSON holds the words as they are.
      if (more.length > 0)
        assert.ok(JSON.stringify(JSON.parse(result.stdout)).includes(JSON.stringify(evil).slice(1, -1)))
    }
  }
})
