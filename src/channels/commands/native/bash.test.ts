import assert from "node:assert/strict"
import { test } from "node:test"
import { systemIds } from "../../../kernel/index.ts"
import type { CommandCall, CommandServices } from "../contract.ts"
import { planTyped } from "../typed.ts"
import { bash } from "./bash.ts"

const call = { agentId: "main", sessionKey: "agent:main:main" } as CommandCall & { jobId: number; runId: string }

function answer(args: string, output = "", isOn = true) {
  const asked: unknown[] = []
  const run = (request: unknown) => {
    asked.push(request)
    return Promise.resolve({ output, end: "ended with 0" })
  }
  const services = { shell: { isOn: () => isOn, run } } as unknown as CommandServices
  return Promise.resolve(bash.run({ ...call, args }, services)).then(({ text, isForeign }) => ({
    text,
    isForeign,
    asked,
  }))
}

test("a command of several lines runs as it was typed", () => {
  const typed = planTyped("/bash for name in a b; do\n  echo $name\ndone", {
    ids: systemIds,
    isModel: () => false,
    call,
  })
  assert.match(JSON.stringify(typed.jobs), /do\\+n {2}echo \$name\\+ndone/)
  assert.equal(typed.rest, undefined)
})

test("output stays inside its block, whatever it holds, and is cut with a word about it", async () => {
  const { text, asked } = await answer(" ls ", "```\nout of it\n`````")
  assert.equal(text, "``````\n```\nout of it\n`````\n``````\nended with 0")
  assert.deepEqual(asked, [{ agentId: "main", sessionKey: "agent:main:main", command: "ls" }])
  assert.equal((await answer("true")).text, "(no output) ended with 0")
  const outputs = [await answer("cat mail", "words of others"), await answer("true")]
  assert.deepEqual(
    outputs.map(({ isForeign }) => isForeign),
    [true, undefined],
    "what it has printed may be anybody's words",
  )
  const { text: long } = await answer("cat", "x".repeat(10_000))
  assert.match(long ?? "", /x\n\[\.\.\.\]\n```\nended with 0$/)
  assert.ok((long ?? "").length < 3_100)
})

test("nothing runs where it is switched off or nothing is asked", async () => {
  const { text, asked } = await answer("ls", "", false)
  assert.match(text ?? "", /Set `commands\.bash` to true/)
  assert.deepEqual(asked, [])
  await assert.rejects(answer("  "), { message: "The command is missing" })
})
