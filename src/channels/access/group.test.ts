import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { parseAllowList, type Sender } from "./allow-list.ts"
import type { AccessDecision } from "./decision.ts"
import { type GroupPolicy, type GroupQuestion, decideGroup, groupRules } from "./group.ts"
import { type GroupConfig, createGroupBook, toolsOf } from "./group-settings.ts"
import { traceDecision } from "../access.ts"

interface Given {
  policy?: GroupPolicy
  groups?: Record<string, GroupConfig>
  groupAllowFrom?: string[]
  allowFrom?: string[]
  paired?: string[]
  chat?: string
  topic?: string
  isChannel?: boolean
  sender?: Partial<Sender>
}

const pins: Record<string, string[]> = { "50": ["bob"] }

function question(given: Given): GroupQuestion {
  const group = createGroupBook(given.groups, []).of(given.chat ?? "-100")
  return {
    policy: given.policy ?? "allowlist",
    isChannel: given.isChannel ?? false,
    group,
    place: (given.topic === undefined ? undefined : group?.topics.get(given.topic)) ?? group,
    groupAllow: parseAllowList(given.groupAllowFrom ?? [], []),
    directAllow: parseAllowList(given.allowFrom ?? [], []),
    paired: new Set(given.paired),
    sender: { id: "7", ...given.sender },
    namesOf: (id) => pins[id] ?? [],
  }
}

function decide(given: Given): string {
  return describeDecision(decideGroup(question(given)))
}

function describeDecision(decision: AccessDecision): string {
  if (decision.kind !== "accept") return `${decision.kind} ${decision.rule}`
  return `accept ${decision.rule} ${decision.origin} ${decision.trusted ? "trusted" : "untrusted"}`
}

const openMember = "accept group-open group-member untrusted"
const approved = "accept listed-id approved-sender trusted"
const notListed = "drop sender-not-listed"

const table: [name: string, given: Given, expected: string][] = [
  [
    "policy disabled drops even the owner",
    { policy: "disabled", allowFrom: ["7"], groupAllowFrom: ["7"] },
    "drop group-policy-disabled",
  ],
  ["policy open lets in any member, without trust", { policy: "open" }, openMember],
  ["policy open trusts the owner", { policy: "open", allowFrom: ["7"] }, "accept group-open owner trusted"],
  [
    "policy open trusts a person that was paired",
    { policy: "open", paired: ["7"] },
    "accept group-open approved-sender trusted",
  ],
  [
    "policy open knows people by a pinned name",
    { policy: "open", allowFrom: ["@bob"], sender: { id: "50" } },
    "accept group-open approved-sender trusted",
  ],
  ["policy allowlist lets in groupAllowFrom by id", { groupAllowFrom: ["7"] }, approved],
  [
    "policy allowlist lets in groupAllowFrom by pinned name",
    { groupAllowFrom: ["@bob"], sender: { id: "50" } },
    "accept listed-name approved-sender trusted",
  ],
  [
    "another id under a pinned name is a stranger",
    { groupAllowFrom: ["@bob"], sender: { id: "51", username: "bob" } },
    notListed,
  ],
  [
    "the wildcard lets in everybody without trust",
    { groupAllowFrom: ["*"] },
    "accept everybody group-member untrusted",
  ],
  ["an empty groupAllowFrom admits nobody", { groupAllowFrom: [] }, notListed],
  ["groupAllowFrom does not fall back to allowFrom", { allowFrom: ["7"] }, notListed],
  ["nor to the wildcard of allowFrom", { allowFrom: ["*"] }, notListed],
  ["pairing never grants group rights", { paired: ["7"] }, notListed],
  [
    "a listed sender who owns the gateway is the owner",
    { groupAllowFrom: ["7"], allowFrom: ["7"] },
    "accept listed-id owner trusted",
  ],

  ["groups without entries list every group", { policy: "open", groups: {} }, openMember],
  ["a group that is not listed is dropped", { policy: "open", groups: { "-200": {} } }, "drop group-not-listed"],
  [
    "a group that is not listed is dropped for the owner too",
    { groups: { "-200": {} }, groupAllowFrom: ["7"] },
    "drop group-not-listed",
  ],
  ["a listed group is answered", { policy: "open", groups: { "-100": {} } }, openMember],
  ["the wildcard lists every group", { policy: "open", groups: { "*": {} } }, openMember],
  ["listing a group lets in no sender", { groups: { "-100": {} } }, notListed],

  [
    "enabled false switches a group off",
    { policy: "open", groups: { "-100": { enabled: false } } },
    "drop group-disabled",
  ],
  [
    "enabled is taken from the wildcard",
    { policy: "open", groups: { "*": { enabled: false }, "-100": {} } },
    "drop group-disabled",
  ],
  [
    "a group wins over the wildcard",
    { policy: "open", groups: { "*": { enabled: false }, "-100": { enabled: true } } },
    openMember,
  ],
  [
    "a topic can be switched off",
    { policy: "open", groups: { "-100": { topics: { "5": { enabled: false } } } }, topic: "5" },
    "drop topic-disabled",
  ],
  [
    "a topic that is off leaves its siblings on",
    { policy: "open", groups: { "-100": { topics: { "5": { enabled: false } } } }, topic: "6" },
    openMember,
  ],
  [
    "a topic of a disabled group cannot be on",
    { policy: "open", groups: { "-100": { enabled: false, topics: { "5": { enabled: true } } } }, topic: "5" },
    "drop group-disabled",
  ],

  [
    "a group's own list replaces groupAllowFrom",
    { groupAllowFrom: ["7"], groups: { "-100": { allowFrom: ["8"] } } },
    notListed,
  ],
  ["a group's own list lets in", { groups: { "-100": { allowFrom: ["7"] } } }, approved],
  ["a group's own list closes an open group", { policy: "open", groups: { "-100": { allowFrom: ["8"] } } }, notListed],
  [
    "an empty list of a group admits nobody",
    { policy: "open", groups: { "-100": { allowFrom: [] } }, groupAllowFrom: ["7"] },
    notListed,
  ],
  [
    "the wildcard's list is inherited",
    { groups: { "*": { allowFrom: ["7"] }, "-100": { requireMention: false } } },
    approved,
  ],
  [
    "a topic inherits its group's list",
    { groups: { "-100": { allowFrom: ["7"], topics: { "5": { skills: [] } } } }, topic: "5" },
    approved,
  ],
  [
    "a topic's list wins over its group's",
    { groups: { "-100": { allowFrom: ["7"], topics: { "5": { allowFrom: ["8"] } } } }, topic: "5" },
    notListed,
  ],
  [
    "an empty list of a topic admits nobody",
    { policy: "open", groups: { "-100": { allowFrom: ["7"], topics: { "5": { allowFrom: [] } } } }, topic: "5" },
    notListed,
  ],
  [
    "a wildcard in a group's list lets in everybody",
    { groups: { "-100": { allowFrom: ["*"] } } },
    "accept everybody group-member untrusted",
  ],
  [
    "a topic of the wildcard holds for every group",
    { groups: { "*": { topics: { "1": { allowFrom: ["7"] } } }, "-100": {} }, topic: "1" },
    approved,
  ],

  ["another bot is never answered", { policy: "open", groupAllowFrom: ["7"], sender: { isBot: true } }, "drop bot"],
  [
    "a service account matches no list",
    { groupAllowFrom: ["1087968824"], sender: { id: "1087968824", isBot: true, isService: true } },
    "drop service-account",
  ],
  ["an anonymous administrator is the group", { groupAllowFrom: ["-100"], sender: { id: "-100" } }, approved],
  [
    "an anonymous administrator is not its account",
    { groupAllowFrom: ["1087968824"], sender: { id: "-100" } },
    notListed,
  ],
  ["a linked channel is dropped unless it is listed", { sender: { id: "-300" } }, notListed],
  [
    "a channel that is not listed is dropped",
    { policy: "open", isChannel: true, sender: { id: "-100" } },
    "drop channel-not-listed",
  ],
  [
    "the wildcard does not list channels",
    { policy: "open", isChannel: true, groups: { "*": {} }, sender: { id: "-100" } },
    "drop channel-not-listed",
  ],
  [
    "a channel listed by its id is answered",
    { policy: "open", isChannel: true, groups: { "-100": {} }, sender: { id: "-100" } },
    openMember,
  ],
  [
    "a listed channel still has to pass the sender rule",
    { isChannel: true, groups: { "-100": {} }, sender: { id: "-100" } },
    notListed,
  ],
]

describe("a group message", () => {
  for (const [name, given, expected] of table) test(name, () => assert.equal(decide(given), expected))

  test("is explained by the rules that decide it", () => {
    const { decision, steps } = traceDecision(groupRules, question({ groups: { "-100": { enabled: false } } }))
    assert.equal(describeDecision(decision), "drop group-disabled")
    assert.deepEqual(steps, [
      { rule: "group-policy", outcome: "passed" },
      { rule: "group-listed", outcome: "passed" },
      { rule: "group-enabled", outcome: "drop" },
    ])
  })
})

describe("settings of a place", () => {
  const book = createGroupBook(
    {
      "*": { requireMention: false, systemPrompt: "Be brief.", skills: ["a"] },
      "-100": {
        systemPrompt: " Speak of ships. ",
        topics: { "5": { systemPrompt: "Only sails.", requireMention: true } },
      },
    },
    [],
  )

  test("are inherited key by key, prompts of group and topic joined", () => {
    const group = book.of("-100")
    assert.equal(group?.requireMention, false)
    assert.equal(group?.systemPrompt, "Speak of ships.")
    assert.deepEqual(group?.skills, ["a"])
    const topic = group?.topics.get("5")
    assert.equal(topic?.requireMention, true)
    assert.equal(topic?.systemPrompt, "Speak of ships.\n\nOnly sails.")
    assert.deepEqual(topic?.skills, ["a"])
    assert.equal(book.of("-999")?.systemPrompt, "Be brief.")
  })

  test("say which key each value came from", () => {
    const topic = book.of("-100")?.topics.get("5")
    assert.equal(topic?.sources.requireMention, 'groups["-100"].topics["5"].requireMention')
    assert.equal(topic?.sources.skills, 'groups["*"].skills')
    assert.equal(topic?.sources.enabled, undefined)
  })

  test("narrow the tools, for single senders otherwise than for all", () => {
    const [few, none, all] = [{ allow: ["message"] }, { deny: ["*"] }, {}]
    const tools = createGroupBook(
      {
        "*": { tools: few },
        "-100": { toolsBySender: { " tg: 7 ": all, "*": none }, topics: { "5": { skills: [] } } },
        "-200": { tools: none, toolsBySender: { "7": all } },
      },
      ["tg:"],
    )
    const of = (chat: string, sender: string) => toolsOf(tools.of(chat), sender)
    assert.deepEqual([of("-100", "7"), of("-100", "8")], [all, none])
    assert.deepEqual([of("-200", "7"), of("-200", "8")], [all, none])
    assert.equal(of("-300", "7"), few)
    assert.equal(toolsOf(tools.of("-100")?.topics.get("5"), "8"), none, "a topic's are its group's")
    assert.equal(toolsOf(undefined, "7"), undefined)
  })

  test("are a group's own where all groups say of everybody what else holds, and stay a named sender's", () => {
    const [few, none, all] = [{ allow: ["message"] }, { deny: ["*"] }, {}]
    const tools = createGroupBook(
      { "*": { toolsBySender: { "7": all, "*": none } }, "-100": { tools: few, topics: { "5": {} } }, "-200": {} },
      [],
    )
    const of = (chat: string, sender: string) => toolsOf(tools.of(chat), sender)
    assert.deepEqual([of("-100", "7"), of("-100", "8")], [all, few])
    assert.equal(toolsOf(tools.of("-100")?.topics.get("5"), "8"), few)
    assert.deepEqual([of("-200", "7"), of("-200", "8"), of("-300", "8")], [all, none, none])
  })

  test("name people with or without the channel's prefixes", () => {
    const topics = { "5": { allowFrom: ["tg:8"] } }
    const group = createGroupBook({ "-100": { allowFrom: ["tg:7"], topics } }, ["tg:"]).of("-100")
    assert.deepEqual([group?.allow?.ids, group?.topics.get("5")?.allow?.ids], [new Set(["7"]), new Set(["8"])])
  })

  test("need a mention unless somebody says otherwise", () => {
    assert.equal(createGroupBook(undefined, []).of("-1")?.requireMention, true)
  })
})

describe("of any configuration", () => {
  /** A small linear generator: the same cases in every run. */
  function seeded(seed: number) {
    let state = seed
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
  }

  function randomCase(random: (below: number) => number): Given {
    const some = <T>(values: readonly T[]) => values[random(values.length)] as T
    const list = () => ["7", "8", "@bob", "*"].filter(() => random(4) === 0)
    const place = () => ({
      ...(random(3) === 0 ? { allowFrom: list() } : {}),
      ...(random(4) === 0 ? { enabled: random(2) === 0 } : {}),
    })
    const groupOf = (): GroupConfig => ({ ...place(), ...(random(3) === 0 ? { topics: { "5": place() } } : {}) })
    const groups: Record<string, GroupConfig> = {}
    for (const id of ["*", "-100", "-200"]) if (random(2) === 0) groups[id] = groupOf()
    const topic = some([undefined, "5", "6"])
    return {
      policy: some(["open", "allowlist", "disabled"] as const),
      ...(random(3) === 0 ? {} : { groups }),
      groupAllowFrom: list(),
      allowFrom: list(),
      paired: random(2) === 0 ? ["7"] : [],
      ...(topic === undefined ? {} : { topic }),
      isChannel: random(6) === 0,
      sender: { id: some(["7", "8", "50", "9", "-100"]), isBot: random(8) === 0 },
    }
  }

  test("what may be done directly never changes who is heard in a group, only how far they are trusted", () => {
    const random = seeded(1)
    for (let count = 0; count < 5000; count += 1) {
      const given = randomCase(random)
      const bare = decideGroup(question({ ...given, allowFrom: [], paired: [] }))
      const full = decideGroup(question(given))
      assert.equal(full.kind, bare.kind, JSON.stringify(given))
      assert.equal(full.rule, bare.rule, JSON.stringify(given))
    }
  })

  test("nobody is heard whom neither an open policy nor a list lets in, and no bot ever", () => {
    const random = seeded(2)
    let accepted = 0
    for (let count = 0; count < 5000; count += 1) {
      const given = randomCase(random)
      const asked = question(given)
      const decision = decideGroup(asked)
      if (decision.kind !== "accept") continue
      accepted += 1
      const why = JSON.stringify(given)
      assert.notEqual(asked.policy, "disabled", why)
      assert.ok(!asked.sender.isBot, why)
      assert.ok(asked.group?.enabled && asked.place?.enabled, why)
      const list = asked.place?.allow ?? (asked.policy === "open" ? undefined : asked.groupAllow)
      const isListed =
        (list?.everybody ?? true) ||
        list?.ids.has(asked.sender.id) ||
        (list?.names.has("bob") && asked.sender.id === "50")
      assert.ok(isListed, why)
      if (decision.trusted) assert.notEqual(decision.origin, "group-member", why)
    }
    assert.ok(accepted > 500, `${accepted} cases were accepted`)
  })

  test("an explanation ends with the decision that a message gets", () => {
    const random = seeded(3)
    for (let count = 0; count < 2000; count += 1) {
      const asked = question(randomCase(random))
      const { decision, steps } = traceDecision(groupRules, asked)
      assert.deepEqual(decision, decideGroup(asked))
      assert.equal(steps.at(-1)?.outcome, decision.kind)
    }
  })
})
