import assert from "node:assert/strict"
import { test } from "node:test"
import { type Config, configSchema } from "../../config/index.ts"
import { AppError } from "../../kernel/index.ts"
import { type ExplainFacts, explainAccess } from "./explain.ts"
import { createSettings } from "./settings.ts"

function facts(
  chatapp: object,
  more: object = {},
  running?: Partial<NonNullable<ExplainFacts["running"]>>,
): ExplainFacts {
  const config: Config = configSchema.parse({ channels: { chatapp, ...more } })
  const known = {
    paired: () => new Set<string>(),
    idOfName: () => undefined,
    activationOf: () => undefined,
    agentId: "main",
  }
  const settings = createSettings(() => config)
  return { config: () => config, settings, ...(running ? { running: { ...known, ...running } } : {}) }
}

const group = { chat: "-100", user: "7" }

test("names the rule and the key for each way in which a message is dropped", () => {
  const cases: [object, object, string, string | undefined][] = [
    [{ dmPolicy: "disabled" }, { chat: "7" }, "disabled", "channels.chatapp.dmPolicy"],
    [{ dmPolicy: "allowlist" }, { chat: "7" }, "not-listed", "channels.chatapp.allowFrom"],
    [{}, { chat: "7" }, "pairing", "channels.chatapp.allowFrom"],
    [{ groupPolicy: "disabled" }, group, "group-policy-disabled", "channels.chatapp.groupPolicy"],
    [{}, group, "sender-not-listed", "channels.chatapp.groupAllowFrom"],
    [{ groups: { "-1": {} } }, group, "group-not-listed", 'channels.chatapp.groups["-100"]'],
    [{ groups: { "*": { enabled: false } } }, group, "group-disabled", 'channels.chatapp.groups["*"].enabled'],
    [
      { groups: { "-100": { topics: { "5": { enabled: false } } } } },
      { ...group, topic: "5" },
      "topic-disabled",
      'channels.chatapp.groups["-100"].topics["5"].enabled',
    ],
    [
      { groups: { "-100": { allowFrom: [8] } } },
      { ...group, topic: "5" },
      "sender-not-listed",
      'channels.chatapp.groups["-100"].allowFrom',
    ],
    [
      { groupPolicy: "open" },
      { ...group, isChannelPost: true },
      "channel-not-listed",
      'channels.chatapp.groups["-100"]',
    ],
    [{ groupAllowFrom: [777000] }, { ...group, user: "777000" }, "service-account", undefined],
  ]
  for (const [chatapp, question, rule, key] of cases) {
    const explanation = explainAccess(question as { chat: string }, facts(chatapp))
    assert.equal(explanation.rule, rule)
    assert.notEqual(explanation.outcome, "accept")
    assert.equal(explanation.key, key, rule)
    assert.notEqual(explanation.reason, "")
  }
})

test("says what an accepted sender counts as, and what has to be done to be answered", () => {
  const chatapp = { groupPolicy: "open", allowFrom: [7], groups: { "*": { requireMention: false }, "-100": {} } }
  const explanation = explainAccess(group, facts(chatapp))
  assert.equal(explanation.outcome, "accept")
  assert.equal(explanation.rule, "group-open")
  assert.equal(explanation.origin, "owner")
  assert.deepEqual(explanation.mention, { isRequired: false, by: 'channels.chatapp.groups["*"].requireMention' })
  assert.deepEqual(explanation.steps.at(-1), { rule: "group-open", outcome: "accept" })
  const bare = explainAccess(group, facts({ groupPolicy: "open" }))
  assert.deepEqual(bare.mention, { isRequired: true, by: "default" })
})

test("knows what only a running gateway knows, and says when it does not", () => {
  const paired = () => new Set(["7"])
  assert.equal(explainAccess({ chat: "7" }, facts({}, {}, { paired })).rule, "paired")
  assert.deepEqual(explainAccess({ chat: "7" }, facts({}, {}, { paired })).notes, [])
  assert.match(explainAccess({ chat: "7" }, facts({})).notes.join(), /without pairings/)
  const always = facts(
    { groupPolicy: "open" },
    {},
    {
      activationOf: (key) => (key === "agent:main:chatapp:group:-100:topic:5" ? "always" : undefined),
    },
  )
  assert.equal(explainAccess({ ...group, topic: "5" }, always).mention?.isRequired, false)
  assert.equal(explainAccess(group, always).mention?.isRequired, true)
})

test("takes a listed name by its pin, or by who would be the first under it", () => {
  const listed = { allowFrom: ["@ann"], dmPolicy: "allowlist" }
  const pinned = facts(listed, {}, { idOfName: () => "8" })
  assert.equal(explainAccess({ chat: "7", username: "@Ann" }, facts(listed)).rule, "listed-name")
  assert.equal(explainAccess({ chat: "7", username: "ann" }, pinned).rule, "not-listed")
  assert.equal(explainAccess({ chat: "8" }, pinned).rule, "listed-name")
})

test("names the section that sets a key: the account's, the channel's, or the default of all channels", () => {
  const chatapp = {
    groupPolicy: "open",
    accounts: { work: { botToken: "1:a", groupPolicy: "disabled" }, home: { botToken: "2:b" } },
  }
  assert.equal(
    explainAccess({ ...group, account: "work" }, facts(chatapp)).key,
    "channels.chatapp.accounts.work.groupPolicy",
  )
  assert.equal(explainAccess({ ...group, account: "home" }, facts(chatapp)).key, "channels.chatapp.groupPolicy")
  const byDefault = facts({}, { defaults: { groupPolicy: "disabled" } })
  assert.equal(explainAccess(group, byDefault).key, "channels.defaults.groupPolicy")
})

test("an anonymous administrator is asked about by the chat alone", () => {
  assert.equal(explainAccess({ chat: "-100" }, facts({ groupAllowFrom: [-100] })).rule, "listed-id")
})

for (const [question, problem] of [
  [{ chat: "@crew" }, "numeric id"],
  [{ chat: "-100", user: "ann" }, "numeric id"],
  [{ chat: "7", user: "8" }, "private chat"],
  [{ chat: "7", topic: "5" }, "private chat"],
  [{ chat: "-100", topic: "x" }, "thread id"],
  [{ chat: "7", account: "nobody" }, "no account"],
] as const) {
  test(`a question that makes no sense is refused: ${JSON.stringify(question)}`, () => {
    assert.throws(
      () => explainAccess(question, facts({})),
      (error) => error instanceof AppError && error.message.includes(problem),
    )
  })
}
