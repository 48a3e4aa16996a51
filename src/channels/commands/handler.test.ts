import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../../test/support/store.ts"
import type { Reply } from "../../delivery/contract.ts"
import { AppError, type ErrorCode, type Log, systemIds } from "../../kernel/index.ts"
import type { JobRow } from "../../store/index.ts"
import { type CommandHandlerOptions, createCommandHandler } from "./handler.ts"
import { nativeCommands } from "./registry.ts"

async function answer(command: string, chatKind: string): Promise<string> {
  const said: string[] = []
  const log = { info() {}, error() {} } as unknown as Log
  const options = {
    services: { commands: nativeCommands, customCommands: () => [], isOn: () => true },
    plan: (_route: unknown, { text }: { text: string }) => (said.push(text), []),
    canShowButtons: () => false,
    onChanged() {},
    redact: (text: string) => text,
    log,
  } as unknown as CommandHandlerOptions
  const route = { channel: "chatapp", account: "default", chatId: "1", chatKind }
  const sender = { id: "1", origin: "owner", isAuthorised: true }
  const payload = JSON.stringify({ command, args: "", agentId: "main", sessionKey: "s", route, sender })
  const job = { id: 1, run_id: "run-1", payload } as JobRow
  const end = await createCommandHandler(options).run(job, {} as never)
  const write = {
    prepare: () => ({ run: () => ({ changes: 0 }), get: () => undefined, all: () => [] }),
    addOutbox() {},
  }
  if (typeof end === "object" && "commit" in end) await end.commit?.(write as never)
  return said.join("\n")
}

test("a command is answered only in chats of its kind, and elsewhere it is said where it works", async () => {
  assert.match(await answer("help", "private"), /^Write to me/)
  assert.match(await answer("help", "group"), /^Mention me/)
  const placed = nativeCommands.filter(({ where }) => where !== undefined)
  assert.ok(placed.length > 0)
  for (const { name, where } of placed) {
    const elsewhere = where === "private" ? "group" : "private"
    const chats = where === "private" ? "private chats" : "groups"
    assert.equal(await answer(name, elsewhere), `/${name} works only in ${chats}.`)
  }
  assert.equal(await answer("nothing", "private"), "There is no command /nothing")
})

test("an answer is written as what it is: without secrets, at the message of a group, with its buttons or what they would do", async (context) => {
  const store = await testStore(context)
  const replies: Reply[] = []
  let changes = 0
  let showsButtons = true
  const fails = { error: undefined as Error | undefined }
  const options = {
    services: {
      sessions: { find: () => undefined, open: () => ({ settings: {} }), saveSettings: () => undefined },
      models: {
        describe: () => {
          if (fails.error) throw fails.error
          return { id: "a/b", thinking: "low" }
        },
      },
      approvals: { decide: async () => "Allowed: press the secret button" },
    },
    plan: (_route: unknown, reply: Reply) => (replies.push(reply), []),
    canShowButtons: () => showsButtons,
    onChanged: () => (changes += 1),
    redact: (text: string) => text.replaceAll("secret", "***"),
    log: silentLog,
  } as unknown as CommandHandlerOptions
  const handler = createCommandHandler(options)
  const jobOf = async (command: string, args: string, more: { route?: object; sender?: object }) => {
    const route = {
      channel: "chatapp",
      account: "default",
      chatId: "1",
      chatKind: "private",
      messageId: "7",
      ...more.route,
    }
    const sender = { id: "1", origin: "owner", isAuthorised: true, ...more.sender }
    const payload = { command, args, agentId: "main", sessionKey: "s", route, sender }
    const runId = systemIds.uuid()
    await store.write(async (write) => write.addJob({ runId, kind: "command", laneKey: runId, payload }))
    return store.handle.prepare("select * from job where run_id = ?").get(runId) as unknown as JobRow
  }
  const use = async (command: string, args = "", more: { route?: object; sender?: object } = {}) => {
    const job = await jobOf(command, args, more)
    const end = await handler.run(job, AbortSignal.timeout(60_000))
    await store.write(async (write) => void (await end?.commit?.(write)))
    const kept = store.handle.prepare("select origin, trusted from job where id = ?").get(job.id)
    return { reply: replies.at(-1) ?? assert.fail(), whose: [kept?.["origin"], kept?.["trusted"]] }
  }
  const shown = await use("think")
  assert.equal(shown.reply.buttons?.flat().length, 6)
  assert.deepEqual([shown.reply.text, shown.reply.replyTo, changes], ["The thinking level is low.", undefined, 0])
  assert.deepEqual(shown.whose, ["owner", 1])
  showsButtons = false
  const listed = await use("think", "", { route: { chatKind: "supergroup" }, sender: { origin: "approved-sender" } })
  assert.match(
    listed.reply.text,
    /^The thinking level is low\.\n`\/think off`\n(?:`\/think \w+`\n){4}`\/think default`$/,
  )
  assert.deepEqual([listed.reply.buttons, listed.reply.replyTo, listed.whose], [undefined, "7", ["approved-sender", 1]])
  await use("think", "high")
  assert.equal(changes, 1)
  const decided = await use("approve", "allow 1")
  assert.deepEqual([decided.reply.text, decided.whose], ["Allowed: press the *** button", ["model", 0]])
  const failsWith = (code: ErrorCode, hint?: string) => {
    fails.error = new AppError(code, "It cannot be", hint === undefined ? {} : { hint })
  }
  failsWith("not-found")
  assert.equal((await use("think")).reply.text, "It cannot be")
  failsWith("not-found", "Try again")
  assert.equal((await use("think")).reply.text, "It cannot be\nTry again")
  // Tried again, and told of when it is given up.
  for (const code of ["internal", "storage-failed"] as const) {
    failsWith(code)
    await assert.rejects(use("think"), { code })
  }
  const job = await jobOf("think", "gone", {})
  await store.write(async (write) => void (await handler.onDead?.(job, "why", write)))
  assert.equal(replies.at(-1)?.text, "Sorry, /think did not work. The log has the details.")
})
