// Where a turn is and who reads along: what of the owner's it is shown, and what of the past it may bring up.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { type AgentParts, call, chat, scriptedModels, smallTool, startAgent } from "./agent.fixture.ts"
import type { ToolContext } from "./tool.ts"
import type { TurnInput } from "./turn-input.ts"

async function startLooking(context: TestContext) {
  const seen: [recall: ToolContext["recall"], isPrivate: boolean][] = []
  let isPrivate = false
  const look = smallTool("look", {
    run: async (_input, { recall }) => {
      seen.push([recall, isPrivate])
      return { content: [] }
    },
  })
  const workspaceFiles: AgentParts["workspaceFiles"] = (_agentId, place) => {
    isPrivate = place.isPrivate
    return []
  }
  const models = scriptedModels([[call("look")], "HEARTBEAT_OK"])
  return { seen, agent: await startAgent(context, { models, tools: [look], workspaceFiles }) }
}

const group = { ...chat, chatId: "-1", chatKind: "group" } as const
const asker = { id: "5", origin: "approved-sender", isAuthorised: true } as const
const run = { name: "daily", wakeMode: "next-heartbeat" } as const
const cases: [string, Partial<TurnInput>, ToolContext["recall"], boolean][] = [
  ["the owner, alone with the agent", {}, "owner", true],
  ["the owner in a group", { route: group }, "session", false],
  ["the owner in no chat", { route: null }, "session", false],
  ["an approved sender, alone with the agent", { origin: "approved-sender", askedBy: asker }, "owner", true],
  ["an approved sender in a group", { route: group, askedBy: asker }, "session", false],
  ["whoever is let in because everybody is", { askedBy: { ...asker, isAuthorised: false } }, "session", false],
  [
    "an owner who is heard as everybody is",
    { askedBy: { ...asker, origin: "owner", isAuthorised: false } },
    "session",
    false,
  ],
  ["somebody of no known standing", { origin: "approved-sender" }, "session", false],
  ["a guest in a session of their own", { guestSession: true, trusted: false, askedBy: asker }, "session", false],
  ["a webhook", { purpose: "hook", origin: "webhook", trusted: false }, "nothing", false],
  ["a webhook whose words are the operator's", { purpose: "hook", origin: "webhook" }, "nothing", false],
  ["an owner's schedule", { purpose: "schedule", schedule: run }, "owner", true],
  ["an owner's schedule that tells nobody", { purpose: "schedule", schedule: run, route: null }, "owner", true],
  ["an owner's schedule that tells a group", { purpose: "schedule", schedule: run, route: group }, "session", false],
  ["a schedule of words of others", { purpose: "schedule", schedule: run, trusted: false }, "session", false],
]

for (const [name, input, recall, isPrivate] of cases) {
  test(`${name}: ${recall === "owner" ? "all that is the owner's" : recall === "session" ? "this conversation" : "nothing of the past"}, and ${isPrivate ? "what" : "nothing that"} is private`, async (context) => {
    const { agent, seen } = await startLooking(context)
    await agent.say("look", input)
    assert.deepEqual(seen, [[recall, isPrivate]])
  })
}

test("a heartbeat brings up what is the owner's, and nothing once words of others have caused it", async (context) => {
  const { agent, seen } = await startLooking(context)
  await agent.wake("manual")
  agent.models.answers.push([call("look")], "HEARTBEAT_OK")
  await agent.addEvent("disk full", { trusted: false, origin: "webhook" })
  await agent.wake("hook")
  assert.deepEqual(seen, [
    ["owner", true],
    ["nothing", true],
  ])
})
