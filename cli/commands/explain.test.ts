import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { runProgram } from "../testing/run-program.ts"
import { answerJson, startStandIn } from "../testing/stand-in-gateway.ts"

test("channels explain asks the gateway and tells its answer without control characters", async (context) => {
  const gateway = await startStandIn(
    answerJson({
      outcome: "drop",
      rule: "group-not-listed",
      reason: "other groups are listed\u001b[2J",
      key: 'channels.chatapp.groups["-100"]',
      steps: [
        { rule: "group-policy", outcome: "passed" },
        { rule: "group-listed", outcome: "drop" },
      ],
      notes: [],
    }),
  )
  context.after(() => gateway.stop())
  const words = "channels explain chatapp --chat -100 --user 7 --topic 5 --username @ann".split(" ")
  const result = await runProgram(words, { environment: gateway.environment })
  assert.equal(result.code, 0, result.stderr)
  assert.equal(gateway.requests[0]?.path, "/api/channels/chatapp/explain?chat=-100&user=7&username=%40ann&topic=5")
  const lines = result.stdout.trimEnd().split("\n")
  assert.match(lines[0] ?? "", /^dropped \(group-not-listed\): other groups are listed/)
  assert.ok(!result.stdout.includes("\u001b"))
  assert.deepEqual(lines.slice(1), [
    'change: channels.chatapp.groups["-100"]',
    "rules: group-policy, group-listed -> drop",
  ])
})

test("channels explain answers from the configuration file when no gateway runs, and says so", async () => {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  const groups = { "-100": { allowFrom: [7], requireMention: false } }
  writeFileSync(join(folder, "svc.json"), JSON.stringify({ channels: { chatapp: { groups } } }))
  const environment = { SVC_STATE_DIR: folder }
  const accepted = await runProgram("channels explain chatapp --chat -100 --user 7".split(" "), { environment })
  assert.equal(accepted.code, 0, accepted.stderr)
  assert.match(accepted.stdout, /^accepted \(listed-id\)/)
  assert.match(accepted.stdout, /^by: channels\.chatapp\.groups\["-100"\]\.allowFrom$/m)
  assert.match(accepted.stdout, /^answered: always/m)
  assert.match(accepted.stdout, /^note: no gateway runs/m)
  const json = await runProgram("channels explain chatapp --chat -1 --user 7 --json".split(" "), { environment })
  assert.equal((JSON.parse(json.stdout) as { rule: string }).rule, "group-not-listed")
  const wrong = await runProgram("channels explain chatapp --chat crew".split(" "), { environment })
  assert.notEqual(wrong.code, 0)
  assert.match(wrong.stderr, /numeric id/)
  const unknown = await runProgram("channels explain smoke --chat 7".split(" "), { environment })
  assert.match(unknown.stderr, /no channel named "smoke"\nhint: Channels: chatapp/)
})
