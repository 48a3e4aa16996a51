// What commands say and change: every choice, every refusal, in the words that people read.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AppError } from "../../../kernel/index.ts"
import type { CommandAnswer, CommandCall, CommandServices } from "../contract.ts"
import { findCommand } from "../registry.ts"

const settings = { thinking: "low", reasoning: "stream", activation: "always", model: "a/large" }

interface Given {
  args?: string
  route?: object
  sender?: object
  services?: object
  settings?: object
}

/** The answer, and which settings of the session its commit has saved. */
async function use(name: string, given: Given = {}): Promise<CommandAnswer & { changed: unknown[] }> {
  const changed: unknown[] = []
  const services = {
    isOn: () => true,
    sessions: {
      find: () => ({ sessionId: "s1", settings: given.settings ?? settings }),
      open: () => ({ settings }),
      saveSettings: (_write: unknown, _session: unknown, saved: object) => void changed.push(saved),
    },
    models: {
      selectable: () => [{ id: "a/small", alias: "quick" }, { id: "a/large" }],
      describe: ({ model = "a/small" }: { model?: string }) => {
        if (!model.startsWith("a/"))
          throw new AppError("model-unknown", `There is no model ${model}`, { hint: "/model list" })
        return { id: model, thinking: "default" }
      },
    },
    lanes: { count: () => ({ running: 1, waiting: 2 }) },
    inspect: () => ({ pid: 7 }),
    ...given.services,
  } as unknown as CommandServices
  const call = {
    command: name,
    args: given.args ?? "",
    agentId: "main",
    sessionKey: "agent:main:main",
    route: { channel: "chatapp", account: "default", chatId: "5", chatKind: "private", ...given.route },
    sender: { id: "5", origin: "owner", isAuthorised: true, ...given.sender },
    jobId: 1,
    runId: "run-1",
  } as unknown as CommandCall & { jobId: number; runId: string }
  const answer = await (findCommand(name) ?? assert.fail(name)).run(call, services)
  answer.commit?.({} as never)
  return { ...answer, changed }
}

const labelsOf = ({ buttons = [] }: CommandAnswer) => buttons.flat().map(({ text }) => text)
const valuesOf = ({ buttons = [] }: CommandAnswer) => buttons.flat().map(({ data }) => data)

describe("a setting of the session", () => {
  const cases = [
    ["think", "", "The thinking level is low."],
    ["think", "enormous", "There is no such level. The thinking level is low."],
    ["think", "HIGH", "The thinking level is high now.", { thinking: "high" }],
    ["think", "default", "The thinking level is as configured again.", { thinking: undefined }],
    ["reasoning", "", "Reasoning is stream."],
    ["reasoning", "loud", "There is no such choice. Reasoning is stream."],
    ["reasoning", "on", "The model's thinking stands in front of its answers now.", { reasoning: "on" }],
    ["reasoning", "off", "The model's thinking is not shown any more.", { reasoning: "off" }],
    ["activation", "", "Activation is always."],
    ["activation", "never", "There is no such choice. Activation is always."],
    ["activation", "always", "I answer every message here now.", { activation: "always" }],
    ["activation", "mention", "I answer here when I am mentioned.", { activation: "mention" }],
    ["model", "a/small", "From now on `a/small` answers here.", { model: "a/small" }],
    ["model", "Default", "From now on `a/small` answers here, as configured.", { model: undefined }],
  ] as const
  for (const [name, args, text, change] of cases) {
    test(`/${name} ${args} says "${text}"`, async () => {
      const answer = await use(name, { args })
      assert.equal(answer.text, text)
      // What else was chosen stays.
      const saved = JSON.parse(JSON.stringify({ ...settings, ...change })) as object
      assert.deepEqual(answer.changed, change === undefined ? [] : [saved])
      assert.equal(labelsOf(answer).length > 0, change === undefined, "whoever chooses nothing is shown what there is")
    })
  }

  test("that is not there is told as what holds instead", async () => {
    assert.equal((await use("think", { settings: {} })).text, "The thinking level is the model's own default.")
    assert.equal((await use("reasoning", { settings: {} })).text, "Reasoning is off.")
    assert.equal((await use("activation", { settings: {} })).text, "Activation is as configured.")
  })

  test("offers every choice as the command that makes it; of models the present one first, by their short names", async () => {
    assert.deepEqual(valuesOf(await use("reasoning")), ["/reasoning on", "/reasoning off", "/reasoning stream"])
    const answer = await use("model")
    assert.equal(answer.text, "The model of this session is `a/large`.")
    assert.deepEqual(labelsOf(answer), ["a/large", "quick", "Default"])
    assert.deepEqual(valuesOf(answer), ["/model a/large", "/model a/small", "/model default"])
    assert.equal((await use("model", { args: "LIST" })).text, "→ `a/large`\n• `a/small` (quick)")
    const many = Array.from({ length: 30 }, (_, index) => ({ id: `a/${index}` }))
    const models = { selectable: () => many, describe: () => ({ id: "a/7", thinking: "default" }) }
    const shown = await use("model", { services: { models } })
    assert.deepEqual([labelsOf(shown).length, labelsOf(shown)[0], labelsOf(shown).at(-1)], [21, "a/7", "Default"])
  })

  test("of a model that is gone keeps nobody from choosing another", async () => {
    const answer = await use("model", { settings: { model: "b/gone" } })
    assert.equal(answer.text, "The model of this session cannot be used: There is no model b/gone. /model list")
    assert.deepEqual(labelsOf(answer), ["quick", "a/large", "Default"])
    await assert.rejects(use("model", { args: "b/gone" }), { code: "model-unknown" })
  })
})

describe("what is an owner's alone", () => {
  const other = { sender: { origin: "approved-sender" } }
  const group = { route: { chatKind: "supergroup" } }
  const off = { services: { isOn: () => false } }
  const config = { services: { config: { show: (key = "all") => key } } }
  const switchedOff = (name: string) =>
    `\`/${name}\` is switched off. Set \`commands.${name}\` to true in the configuration file.`
  for (const [name, given, text] of [
    ["debug", other, "Only owners may look at that."],
    ["debug", off, switchedOff("debug")],
    ["restart", other, "Only owners may restart the gateway."],
    ["restart", off, switchedOff("restart")],
    [
      "config",
      { sender: { isAuthorised: false } },
      "You may not use /config: it is for people of `allowFrom` and people let in by pairing.",
    ],
    ["config", off, switchedOff("config")],
    ["config", other, "Only owners may read the configuration."],
    ["config", { ...other, args: "get a" }, "Only owners may read the configuration."],
    ["config", group, "I show the configuration only in private chats."],
    ["config", { ...group, args: "show a" }, "I show the configuration only in private chats."],
    ["config", config, "```json\nall\n```"],
    ["config", { ...config, args: "SHOW a.b" }, "```json\na.b\n```"],
    ["config", { ...config, args: "get  a.b" }, "```json\na.b\n```"],
  ] as const) {
    test(`/${name} ${JSON.stringify({ ...given, services: undefined })} is answered ${JSON.stringify(text.slice(0, 40))}`, async () => {
      assert.equal((await use(name, given)).text, text)
    })
  }

  test("restarts when the answer is written, and not before; nobody else's refusal does", async () => {
    const reasons: string[] = []
    const begin = (reason: string) => void reasons.push(reason)
    const restart = { services: { restarts: { check: async () => undefined, begin } } }
    await use("restart", { ...restart, ...other })
    assert.deepEqual(reasons, [])
    assert.match((await use("restart", restart)).text, /restarts now/)
    assert.deepEqual(reasons, ["asked for by 5"])
    const problem = new AppError("port-in-use", "Port 5 is in use", { hint: "Take another" })
    const kept = await use("restart", { services: { restarts: { check: async () => problem, begin } } })
    assert.match(kept.text, /does not restart: it would not come back\.\n\nPort 5 is in use\n\nTake another\./)
    assert.deepEqual(reasons, ["asked for by 5"])
  })

  test("shows the inner state: of the session, the route, what waits, and the process", async () => {
    const { text } = await use("debug", { route: { threadId: "3" } })
    const shown = JSON.parse(text.replace(/^```json\n|\n```$/g, "")) as Record<string, unknown>
    assert.deepEqual(shown, {
      agent: "main",
      session: "agent:main:main",
      sessionId: "s1",
      settings,
      route: { channel: "chatapp", account: "default", chatId: "5", chatKind: "private", threadId: "3" },
      turns: { running: 1, waiting: 2 },
      pid: 7,
    })
  })

  test("tells what became of a change, and cuts what is longer than a message", async () => {
    const report = (isChanged: boolean, effect: string) => {
      const change = () => ({ key: "a.b", isChanged, effect })
      return { services: { config: { set: change, unset: change } } }
    }
    assert.equal(
      (await use("config", { args: "set a.b=1", ...report(true, "now") })).text,
      "`a.b` set. It is in effect.",
    )
    const unset = await use("config", { args: "unset a.b", ...report(true, "after-restart") })
    assert.equal(unset.text, "`a.b` removed. It takes effect when the gateway is started anew.")
    const same = await use("config", { args: "set a.b=1", ...report(false, "now"), ...other })
    assert.equal(same.text, "`a.b`: nothing to change.", "people of standing change it too")
    const long = (length: number) => use("config", { services: { config: { show: () => "x".repeat(length) } } })
    assert.equal((await long(3_500)).text.length, 3_500 + "```json\n\n```".length)
    assert.match((await long(3_501)).text, /^```json\nx{3500}\n```\nCut here; name a key to see its part\.$/)
    for (const [args, hint] of [
      ["get", "/config get <key>"],
      ["unset", "/config unset <key>"],
      ["set", "/config set <key>=<value>"],
      ["burn all", "/config show [key] | get <key> | set <key>=<value> | unset <key>"],
    ] as const)
      await assert.rejects(use("config", { args, services: { config: {} } }), { code: "bad-request", hint })
  })
})

describe("what a conversation is put into", () => {
  test("a file has one of two forms, or there is nothing to put into it", async () => {
    const asked: object[] = []
    const archive = {
      export: async (_key: string, { format }: { format: string }) => {
        asked.push({ format })
        return asked.length > 2 ? undefined : { media: { path: "/a.md", mediaType: "text/markdown" }, messages: 3 }
      },
    }
    const exported = (args: string) => use("export", { args, services: { archive } })
    const { text, media } = await exported("")
    assert.deepEqual([text, media?.length], ["The conversation so far: 3 messages.", 1])
    await exported("JSONL")
    assert.deepEqual(asked, [{ format: "markdown" }, { format: "jsonl" }])
    assert.equal((await exported("markdown")).text, "There is nothing to export yet.")
    await assert.rejects(exported("pdf"), { code: "bad-request", message: /`\/export markdown` and `\/export jsonl`/ })
  })

  test("a summary is made with what is said to matter, up to a bound, once the answer is written", async () => {
    const asked: object[] = []
    const archive = { compact: (_write: unknown, wanted: object) => void asked.push(wanted) }
    assert.match((await use("compact", { services: { archive } })).text, /^I sum up what was said so far\./)
    await use("compact", { args: "x".repeat(2_000), services: { archive } })
    const route = { channel: "chatapp", account: "default", chatId: "5", chatKind: "private" }
    const wanted = { agentId: "main", sessionKey: "agent:main:main", route }
    assert.deepEqual(asked, [wanted, { ...wanted, instructions: "x".repeat(1_000) }])
  })
})

describe("who asks", () => {
  test("is told who and where he is, as the configuration names it", async () => {
    const sender = { id: "77", username: "eve", origin: "group-member", isAuthorised: false }
    assert.equal(
      (await use("whoami", { sender, route: { chatId: "-100", chatKind: "supergroup", threadId: "3" } })).text,
      [
        "**Channel** chatapp, account default",
        "**User id** `77`",
        "**Username** `@eve`",
        "**Chat** `-100`",
        "**Topic** `3`",
        "**Standing** member of this group",
        "",
        'In the configuration: `channels.chatapp.groupAllowFrom: ["77"]`',
      ].join("\n"),
    )
    const plain = (await use("whoami", { sender: { origin: "approved-sender" } })).text
    assert.match(plain, /\*\*Standing\*\* let in\n\nIn the configuration: `channels\.chatapp\.allowFrom: \["5"\]`$/)
    assert.doesNotMatch(plain, /Username|Topic/)
    assert.match((await use("whoami")).text, /\*\*Standing\*\* owner\n/)
  })

  test("is told how to begin, and of commands only where he may use them", async () => {
    assert.match((await use("start")).text, /^Hello! .*\nWrite what you want .* \/help shows the commands\.$/)
    const guest = { sender: { isAuthorised: false }, route: { chatKind: "supergroup" } }
    assert.match(
      (await use("start", guest)).text,
      /\nMention me in a message, or answer one of mine, and I will answer here\.$/,
    )
  })

  test("pauses and goes on, and hears where there is nothing to do", async () => {
    const by: string[] = []
    const pause = (isNew: boolean, waiting: number | undefined) => ({
      services: {
        pause: {
          begin: async (who: string) => (by.push(who), isNew),
          end: async (who: string) => (by.push(who), waiting),
        },
      },
    })
    assert.equal(
      (await use("pause", pause(true, 0))).text,
      "Paused: nothing starts any more, and what comes is kept. Go on with /resume.",
    )
    assert.equal((await use("pause", pause(false, 0))).text, "I am paused already. Go on with /resume.")
    assert.equal((await use("resume", pause(true, undefined))).text, "I am not paused.")
    assert.equal((await use("resume", pause(true, 0))).text, "I go on. Nothing has waited.")
    assert.equal((await use("resume", pause(true, 3))).text, "I go on. Conversations with something waiting: 3.")
    assert.deepEqual(new Set(by), new Set(["chat:5"]))
  })

  test("answers what is asked of him with whole answers only, and reads names that strangers have chosen as theirs", async () => {
    const decided: unknown[] = []
    const decide = async (...given: unknown[]) => (decided.push(given), "Done.")
    const services = { approvals: { decide }, nodes: { decide, describe: () => "none" } }
    const approved = await use("approve", { args: " ALLOW  Q1 ", services })
    assert.deepEqual([approved.text, approved.isForeign], ["Done.", true])
    assert.equal((await use("nodes", { args: "Approve my laptop", services })).text, "Done.")
    assert.deepEqual(decided, [
      ["q1", "allow", "chat:5"],
      ["approve", "my laptop", "chat:5"],
    ])
    const listed = await use("nodes", { services })
    assert.deepEqual([listed.text, listed.isForeign], ["none", true])
    for (const [name, args] of [
      ["approve", ""],
      ["approve", "allow"],
      ["approve", "maybe q1"],
      ["nodes", "approve"],
      ["nodes", "burn it"],
    ] as const)
      await assert.rejects(use(name, { args, services }), { code: "bad-request" }, `${name} ${args}`)
    assert.equal(decided.length, 2)
  })
})
