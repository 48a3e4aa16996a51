import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import { AppError } from "../../kernel/index.ts"
import { mayUse } from "./access.ts"
import type { ChatCommand, CommandServices } from "./contract.ts"
import { readAssignment } from "./native/config.ts"
import { renderCommandReference } from "./reference.ts"
import { afterResetWord, isStopWord, readCommand } from "./read.ts"
import { findCommand, nativeCommands } from "./registry.ts"

describe("a text", () => {
  const read = (text: string) => {
    const found = readCommand(text, { botName: "Our_bot" })
    return found.kind === "command" ? `${found.name}|${found.args}` : found.kind
  }

  for (const [text, expected] of [
    ["/status", "status|"],
    ["  /STATUS  ", "status|"],
    ["/think high", "think|high"],
    ["/think:high", "think|high"],
    ["/think: high", "think|high"],
    ["/reset@our_BOT now", "reset|now"],
    ["@our_bot /status", "status|"],
    ["/new first line\nsecond", "new|first line\nsecond"],
    ["/reset@another_bot", "other-bot"],
    ["/anything@another_bot words", "other-bot"],
    ["@our_bot_too /status", "none"],
    ["@our_bots", "none"],
    ["/etc/passwd is a file", "none"],
    ["/status, please", "none"],
    ["/ｓtatus", "none"],
    ["\u200b/status", "none"],
    ["/st\u00adatus", "none"],
    ["see /status", "none"],
    ["/", "none"],
    ["", "none"],
    [`/${"a".repeat(65)}`, "none"],
  ] as const) {
    test(`${JSON.stringify(text)} is read as ${JSON.stringify(expected)}`, () => assert.equal(read(text), expected))
  }

  test("names nobody else's bot while the own name is not known", () => {
    assert.deepEqual(readCommand("/status@some_bot", { botName: undefined }), { kind: "other-bot" })
    assert.equal(readCommand("/status", { botName: undefined }).kind, "command")
  })

  test("is a stop word only as a whole", () => {
    for (const text of ["stop", " STOP ", "abort", "wait", "esc", "exit", "interrupt"])
      assert.ok(isStopWord(text), text)
    for (const text of ["stop it", "stop!", "please wait", "", "waiting"]) assert.ok(!isStopWord(text), text)
  })

  test("begins a new session with one of the operator's words, and goes on with the rest", () => {
    const words = ["/new", "Fresh start"]
    assert.equal(afterResetWord("fresh START", words), "")
    assert.equal(afterResetWord("Fresh start  how are you?", words), "how are you?")
    assert.equal(afterResetWord("Fresh starts", words), undefined)
    assert.equal(afterResetWord("a Fresh start", words), undefined)
  })
})

describe("a command", () => {
  test("is for owners, for people of standing, or, where the operator says so, for all who are heard", () => {
    const owner = { origin: "owner", isAuthorised: true } as const
    const approved = { origin: "approved-sender", isAuthorised: true } as const
    const member = { origin: "group-member", isAuthorised: false } as const
    const may = (access: "anyone" | "authorised" | "owner", useAccessGroups: boolean) =>
      [owner, approved, member].map((standing) => mayUse({ access }, standing, { useAccessGroups }))
    assert.deepEqual(may("owner", true), [true, false, false])
    assert.deepEqual(may("owner", false), [true, false, false])
    assert.deepEqual(may("authorised", true), [true, true, false])
    assert.deepEqual(may("authorised", false), [true, true, false])
    assert.deepEqual(may("anyone", true), [true, true, false])
    assert.deepEqual(may("anyone", false), [true, true, true])
  })

  test("that changes anything is never for anybody", () => {
    const harmless = nativeCommands.filter((command) => command.access === "anyone").map(({ name }) => name)
    assert.deepEqual(harmless.toSorted(), ["commands", "help", "start", "status", "whoami"])
    assert.deepEqual([findCommand("config")?.access, findCommand("approve")?.access], ["authorised", "owner"])
  })

  test("fits the platform's menu", () => {
    const names = nativeCommands.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])])
    assert.equal(new Set(names).size, names.length)
    for (const name of names) assert.match(name, /^[a-z0-9_]{1,32}$/)
    for (const { summary } of nativeCommands) assert.ok(summary.length > 0 && summary.length <= 256)
  })

  test("waits for its turn exactly where it changes what follows", () => {
    const time = (name: string, args: string) => {
      const wanted = findCommand(name)?.time
      return typeof wanted === "function" ? wanted(args) : wanted
    }
    for (const name of ["status", "stop", "help", "commands", "whoami", "activation"])
      assert.equal(time(name, ""), "now")
    for (const name of ["new", "reset"]) assert.equal(time(name, ""), "in-turn")
    assert.deepEqual([time("model", ""), time("model", "list"), time("model", "x/y")], ["now", "now", "in-turn"])
    assert.deepEqual([time("think", ""), time("think", "high")], ["now", "in-turn"])
    assert.deepEqual(
      [time("config", "get a"), time("config", "set a=1"), time("config", "unset a")],
      ["now", "in-turn", "in-turn"],
    )
  })
})

test("the reference is the one that the commands give (node scripts/generate-command-docs.ts)", () => {
  const page = readFileSync(new URL("../../../docs/reference/chat-commands.md", import.meta.url), "utf8")
  assert.equal(page, renderCommandReference())
})

describe("an assignment", () => {
  for (const [text, key, value] of [
    ["a.b=1", "a.b", "1"],
    ["a.b = 1", "a.b", "1"],
    ["a.b 1", "a.b", "1"],
    ["a.b={x: 'y=z'}", "a.b", "{x: 'y=z'}"],
    ['groups["-100 = 5"].enabled=true', 'groups["-100 = 5"].enabled', "true"],
    ["groups['a\\'=b'].x y", "groups['a\\'=b'].x", "y"],
  ] as const) {
    test(`${text} sets ${key} to ${value}`, () => assert.deepEqual(readAssignment(text), { key, value }))
  }

  for (const text of ["a.b", "a.b=", "=1", 'groups["x=1']) {
    test(`${text} lacks something`, () => {
      assert.throws(
        () => readAssignment(text),
        (error) => error instanceof AppError && error.code === "bad-request",
      )
    })
  }
})

describe("the lists of commands", () => {
  const listOf = async (
    name: "help" | "commands",
    more: { chatKind?: string; owner?: boolean; on?: boolean; custom?: boolean },
  ) => {
    const { chatKind = "private", owner = true } = more
    const services = {
      commands: nativeCommands,
      customCommands: () => (more.custom === true ? [{ command: "shop", description: "Buys" }] : []),
      isOn: () => more.on === true,
    } as unknown as Parameters<ChatCommand["run"]>[1]
    const call = {
      route: { channel: "chatapp", account: "default", chatId: "1", chatKind },
      sender: { id: "1", origin: owner ? "owner" : "group-member", isAuthorised: owner },
    } as unknown as Parameters<ChatCommand["run"]>[0]
    return (await (findCommand(name) as ChatCommand).run(call, services)).text
  }
  const namesIn = (text: string) => [...text.matchAll(/^\/(\w+)/gm)].map(([, name]) => name)

  test("show what the caller may use here, and how", async () => {
    const owner = namesIn(await listOf("commands", {}))
    for (const name of ["new", "model", "approve", "status"]) assert.ok(owner.includes(name), name)
    const member = namesIn(await listOf("commands", { owner: false, chatKind: "group" }))
    assert.deepEqual(member.toSorted(), ["commands", "help", "status", "whoami"])
    const unlisted = nativeCommands.filter(({ isUnlisted }) => isUnlisted).map(({ name }) => name)
    assert.ok(unlisted.length > 0 && unlisted.every((name) => !owner.includes(name)), unlisted.join())
    const model = findCommand("model")
    assert.match(await listOf("commands", {}), new RegExp(`^/model \`${model?.usage}\` - ${model?.summary}$`, "m"))
    assert.match(await listOf("commands", {}), /^\/status - \w/m)
  })

  test("leave out what is switched off and what belongs into chats of the other kind, and end with the operator's own", async () => {
    const names = async (more: Parameters<typeof listOf>[1]) => namesIn(await listOf("commands", more))
    const switched = nativeCommands.filter(({ switchedBy }) => switchedBy !== undefined).map(({ name }) => name)
    assert.ok(switched.length > 0)
    for (const name of switched) {
      assert.ok(!(await names({})).includes(name), name)
      assert.ok((await names({ on: true })).includes(name), name)
    }
    for (const { name, where } of nativeCommands.filter((command) => command.where !== undefined)) {
      assert.equal((await names({ on: true })).includes(name), where === "private", name)
      assert.equal((await names({ on: true, chatKind: "group" })).includes(name), where === "group", name)
    }
    assert.match(await listOf("commands", { custom: true }), /\n\n\/shop - Buys$/)
    assert.doesNotMatch(await listOf("commands", {}), /\n\n/)
  })

  test("begin with what to do first, in a group another thing than in private", async () => {
    assert.match(await listOf("help", {}), /^Write to me[^]*\/status[^]*\/commands lists all commands\.$/)
    assert.match(await listOf("help", { chatKind: "group" }), /^Mention me/)
    assert.deepEqual(namesIn(await listOf("help", {})).toSorted(), ["commands", "model", "new", "status", "stop"])
  })
})

test("a new session is begun also where its model has lost its provider, and says so", async () => {
  const renewed: string[] = []
  const services = {
    sessions: {
      find: () => ({ settings: { model: "gone/large" } }),
      renew: (_write: unknown, key: string) => void renewed.push(key),
    },
    models: {
      describe() {
        throw new AppError("model-unknown", "There is no model gone/large", { hint: "Choose another: /model" })
      },
    },
  } as unknown as CommandServices
  for (const name of ["new", "reset"]) {
    const call = { agentId: "main", sessionKey: `agent:main:${name}`, args: "" } as never
    const answer = await findCommand(name)?.run(call, services)
    assert.equal(
      answer?.text,
      "New session. Its model cannot be used: There is no model gone/large. Choose another: /model",
    )
    answer?.commit?.({} as never)
  }
  assert.deepEqual(renewed, ["agent:main:new", "agent:main:reset"])
})

test("who stops is told what was under way and what waited, or that there was nothing", async () => {
  const told = async (running: number, waiting: number) => {
    const services = { lanes: { stop: async () => ({ running, waiting }) } } as unknown as CommandServices
    return (await findCommand("stop")?.run({} as never, services))?.text
  }
  assert.equal(await told(0, 0), "Nothing to stop.")
  assert.equal(await told(1, 0), "Stopped.")
  assert.equal(await told(0, 1), "Nothing was under way. 1 waiting message was dropped.")
  assert.equal(await told(1, 2), "Stopped. 2 waiting messages were dropped.")
})
