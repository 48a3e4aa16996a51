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

test("gives the question back as it was understood, with the whole of the answer", () => {
  const chatapp = {
    accounts: {
      work: { botToken: "1:a", allowFrom: [8], groupAllowFrom: ["*"], groups: { "-100": {} }, enabled: false },
    },
  }
  const question = { chat: " tg:-100 ", user: "chatapp: 7", topic: "5" }
  const { steps: _steps, ...told } = explainAccess(question, facts(chatapp, {}, {}))
  assert.deepEqual(told, {
    channel: "chatapp",
    account: "work",
    chat: "-100",
    user: "7",
    topic: "5",
    outcome: "accept",
    rule: "everybody",
    reason: "the list holds *, which lets in everybody",
    key: "channels.chatapp.accounts.work.groupAllowFrom",
    origin: "group-member",
    trusted: false,
    mention: { isRequired: true, by: "default" },
    notes: ["the account is switched off"],
  })
  const direct = explainAccess({ chat: "8" }, facts(chatapp))
  assert.deepEqual([direct.origin, direct.trusted, direct.mention, direct.topic], ["owner", true, undefined, undefined])
  assert.equal(direct.key, "channels.chatapp.accounts.work.allowFrom")
})

test("names the list that lets somebody in: that of the place, of all groups, or of direct messages", () => {
  const own = { groups: { "-100": { allowFrom: [7], topics: { "5": { allowFrom: ["@ann"] } } } } }
  const inGroups = { ...own, groupAllowFrom: [9] }
  const cases: [object, object, string, string][] = [
    [inGroups, group, "listed-id", 'channels.chatapp.groups["-100"].allowFrom'],
    [
      inGroups,
      { ...group, topic: "5", username: " @Ann " },
      "listed-name",
      'channels.chatapp.groups["-100"].topics["5"].allowFrom',
    ],
    [
      inGroups,
      { ...group, topic: "5", username: "bob" },
      "sender-not-listed",
      'channels.chatapp.groups["-100"].topics["5"].allowFrom',
    ],
    [{ groupAllowFrom: [7] }, group, "listed-id", "channels.chatapp.groupAllowFrom"],
    [{ allowFrom: [7] }, { chat: "7" }, "listed-id", "channels.chatapp.allowFrom"],
    [{ allowFrom: ["*"], dmPolicy: "open" }, { chat: "7" }, "everybody", "channels.chatapp.allowFrom"],
  ]
  for (const [chatapp, question, rule, key] of cases) {
    const explanation = explainAccess(question as { chat: string }, facts(chatapp))
    assert.deepEqual([explanation.rule, explanation.key], [rule, key], JSON.stringify(question))
  }
})

test("asks the account that is meant of pairings and names", () => {
  const accounts = { a: { botToken: "1:a" }, b: { botToken: "2:b", dmPolicy: "allowlist", allowFrom: ["@ann"] } }
  const running = {
    paired: (account: string) => new Set(account === "a" ? ["7"] : []),
    idOfName: (account: string) => (account === "b" ? "8" : undefined),
  }
  const ruleFor = (question: { chat: string; account?: string; username?: string }) =>
    explainAccess(question, facts({ accounts }, {}, running)).rule
  assert.equal(ruleFor({ chat: "7" }), "paired", "the first account where none is named")
  assert.equal(ruleFor({ chat: "7", account: "b", username: "ann" }), "not-listed")
  assert.equal(ruleFor({ chat: "8", account: "b" }), "listed-name")
})

test("says by which key, or by which conversation's own choice, the bot has to be called", () => {
  const groups = { "-100": { topics: { "5": { requireMention: false } } } }
  const accounts = { work: { botToken: "1:a", groupPolicy: "open", groups } }
  assert.deepEqual(explainAccess({ ...group, topic: "5" }, facts({ accounts })).mention, {
    isRequired: false,
    by: 'channels.chatapp.accounts.work.groups["-100"].topics["5"].requireMention',
  })
  const agents = { list: [{ id: "main" }, { id: "home" }, { id: "spare" }] }
  const match = { channel: "chatapp", peer: { kind: "group", id: "-100" } }
  const config: Config = configSchema.parse({
    agents,
    bindings: [{ agentId: "home", match }],
    channels: { chatapp: { groupPolicy: "open", groups: { "*": { requireMention: false } } } },
  })
  const asked: string[] = []
  const activationOf = (key: string) => (asked.push(key), "mention" as const)
  const known = { paired: () => new Set<string>(), idOfName: () => undefined, activationOf, agentId: "spare" }
  const bound = { config: () => config, settings: createSettings(() => config), running: known }
  assert.deepEqual(explainAccess(group, bound).mention, { isRequired: true, by: "/activation of the session" })
  explainAccess({ ...group, chat: "-200" }, bound)
  assert.deepEqual(asked, ["agent:home:chatapp:group:-100", "agent:spare:chatapp:group:-200"])
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
  assert.equal(explainAccess({ chat: "7" }, byDefault).key, "channels.chatapp.allowFrom")
  const parted = {
    groups: { "-100": { allowFrom: [8] } },
    accounts: { work: { botToken: "1:a", groupAllowFrom: [7] } },
  }
  assert.equal(explainAccess(group, facts(parted)).key, 'channels.chatapp.groups["-100"].allowFrom')
  const own = facts({ groupPolicy: "allowlist", dmPolicy: "disabled" }, { defaults: { groupPolicy: "open" } })
  assert.equal(explainAccess(group, own).key, "channels.chatapp.groupAllowFrom")
  assert.equal(explainAccess({ chat: "7" }, own).key, "channels.chatapp.dmPolicy")
  const closed = facts({ groupPolicy: "disabled" }, { defaults: { groupPolicy: "open" } })
  assert.equal(explainAccess(group, closed).key, "channels.chatapp.groupPolicy")
  const away = facts({ accounts: { away: { botToken: "3:c", dmPolicy: "disabled" } } })
  assert.equal(explainAccess({ chat: "7" }, away).key, "channels.chatapp.accounts.away.dmPolicy")
})

test("an anonymous administrator is asked about by the chat alone", () => {
  assert.equal(explainAccess({ chat: "-100" }, facts({ groupAllowFrom: [-100] })).rule, "listed-id")
})

for (const [question, problem, hint = /^$/] of [
  [{ chat: "@crew" }, "numeric id", /--username/],
  [{ chat: "-100", user: "ann" }, "numeric id", /--username/],
  [{ chat: "-100", user: "" }, "numeric id", /--username/],
  [{ chat: "-0100" }, "numeric id", /--username/],
  [{ chat: "7", user: "8" }, "private chat", /negative ids/],
  [{ chat: "7", topic: "5" }, "private chat", /negative ids/],
  [{ chat: "-100", topic: "x" }, "thread id"],
  [{ chat: "-100", topic: "05" }, "thread id"],
  [{ chat: "7", account: "nobody" }, "no account", /^Accounts: default$/],
] as const) {
  test(`a question that makes no sense is refused: ${JSON.stringify(question)}`, () => {
    assert.throws(
      () => explainAccess(question, facts({})),
      (error) => error instanceof AppError && error.message.includes(problem) && hint.test(error.hint ?? ""),
    )
  })
}
