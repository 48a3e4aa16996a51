import assert from "node:assert/strict"
import { test } from "node:test"
import type { Log } from "../../kernel/index.ts"
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
