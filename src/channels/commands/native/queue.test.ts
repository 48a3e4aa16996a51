import assert from "node:assert/strict"
import { test } from "node:test"
import type { CommandCall, CommandServices } from "../contract.ts"
import { queue } from "./queue.ts"

const services = {
  queue: { configured: () => ({ mode: "collect", debounceMs: 1000, cap: 20, drop: "summarize" }) },
  sessions: { find: () => undefined },
  lanes: { count: () => ({ running: 1, waiting: 2 }) },
} as unknown as CommandServices

async function answer(args: string): Promise<string> {
  const call = { command: "queue", args, sessionKey: "agent:main:main" } as CommandCall & {
    jobId: number
    runId: string
  }
  const { text } = await queue.run(call, services)
  return text ?? ""
}

test("each rule for what is too much can be chosen, in both spellings", async () => {
  assert.match(await answer("drop:old"), /the oldest is dropped, which/)
  assert.match(await answer("drop=new"), /the newest is refused/)
  for (const word of ["summarize", "summarise"]) assert.match(await answer(`drop:${word}`), /a line of it kept/)
  await assert.rejects(answer("drop:all"), { message: "drop must be one of summarize, old, new." })
})

test("a pause is a time, bare numbers are milliseconds, and limits are said", async () => {
  assert.match(
    await answer("followup debounce:1500 cap:3"),
    /^From now on: `followup`.* pause of 1\.5 s\. At most 3 of/,
  )
  assert.match(await answer("collect debounce:10m cap:1000"), /pause of 600 s\. At most 1000 of/)
  assert.match(await answer("debounce:0 cap:1"), /one next turn\. At most 1 of/)
  assert.doesNotMatch(await answer("interrupt"), /pause/)
  for (const [args, reason] of [
    ["debounce:11m", /up to 10m/],
    ["debounce:soon", /must be a time/],
    ["cap:0", /from 1 to 1000/],
    ["cap:1001", /from 1 to 1000/],
    ["cap:many", /from 1 to 1000/],
    ["steer collect", /Only one mode/],
    ["later", /"later" is no mode/],
    ["reset now", /takes nothing more/],
  ] as const)
    await assert.rejects(answer(args), reason, args)
})

test("what holds, and what is under way, is told to who asks", async () => {
  assert.match(await answer(""), /^`collect`.*\nThat is as configured\. 1 under way, 2 waiting\.$/)
})
