import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog, testStore } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { AppError, createBackground, systemIds } from "../../kernel/index.ts"
import type { OutboxRow } from "../../store/index.ts"
import { openMedia } from "../shared/media/open.ts"
import { WebFiles } from "./files.ts"
import { placeOf, routeOf } from "./place.ts"
import { createWebSender } from "./sender.ts"

const chat = "agent:main:main"

test("a file that cannot be had just now is waited for; one of a broken disk is told of in the end, and one that is gone at once", async (context) => {
  const store = await testStore(context)
  const mediaRoot = join(temporaryFolder(), "media")
  mkdirSync(mediaRoot)
  const path = join(mediaRoot, "a.txt")
  writeFileSync(path, "words")
  const background = createBackground(silentLog)
  let code: string | undefined
  const files = new WebFiles({
    mediaRoot,
    maxMb: () => 1,
    pruneTime: () => 0,
    ids: systemIds,
    background,
    log: silentLog,
    async open(options) {
      if (code === undefined) return await openMedia(options)
      throw new AppError("media-refused", "a.txt cannot be sent", { cause: Object.assign(new Error(code), { code }) })
    },
  })
  const sender = createWebSender({
    store,
    files,
    isEnabled: () => true,
    resolve: () => routeOf(chat),
    takeMedia: () => assert.fail(),
  })
  const payload = JSON.stringify({ text: "look", files: [{ path, mediaType: "text/plain" }] })
  const send = async (id: number, attempts: number) => {
    const row = { id, attempts, payload, chat_id: chat, kind: "file", job_id: null, origin: null, trusted: null }
    const { kind } = await sender.send(row as unknown as OutboxRow, new AbortController().signal, () => undefined)
    return kind
  }
  const shown = () =>
    store.handle
      .prepare("select json_extract(files, '$[0].problem') as problem from web_message order by id")
      .all()
      .map(({ problem }) => problem)
  code = "EMFILE"
  assert.deepEqual([await send(1, 1), await send(1, 9), shown()], ["retry", "retry", []])
  code = undefined
  assert.deepEqual([await send(1, 10), shown()], ["sent", [null]])
  code = "EIO"
  assert.deepEqual([await send(2, 1), await send(2, 3), shown()], ["retry", "sent", [null, "a.txt cannot be sent"]])
  code = "ENOENT"
  assert.deepEqual([await send(3, 1), shown().length], ["sent", 3])
  await background.idle()
})

test("the agent changes messages of its own that are there, in the chat that they are in; a deletion made again is done", async (context) => {
  const store = await testStore(context)
  let isEnabled = true
  const sender = createWebSender({
    store,
    files: {} as WebFiles,
    isEnabled: () => isEnabled,
    resolve: () => routeOf(chat),
    takeMedia: () => assert.fail(),
  })
  const send = async (row: object) => {
    const whole = { id: 7, attempts: 1, chat_id: chat, job_id: null, origin: null, trusted: null, ...row }
    const outcome = await sender.send(whole as unknown as OutboxRow, new AbortController().signal, () => undefined)
    return outcome.kind
  }
  const change = (messageId: string, more: object, where = chat) => {
    const planned = sender.planChange?.(routeOf(where), { messageId, ...more } as never) ?? assert.fail()
    return { kind: planned.kind, payload: JSON.stringify(planned.payload), laneKey: planned.laneKey }
  }
  const edit = { action: "edit", text: "better" }
  const text = () =>
    store.handle
      .prepare("select text, reaction from web_message")
      .all()
      .map((row) => ({ ...row }))
  const own = { kind: "text", payload: JSON.stringify({ text: "first", files: [] }) }
  isEnabled = false
  assert.deepEqual([await send(own), text()], ["retry", []])
  isEnabled = true
  assert.deepEqual([await send(own), text()], ["sent", [{ text: "first", reaction: null }]])
  assert.throws(() => change("8", edit), { code: "not-found" })
  assert.throws(() => change("7", edit, "agent:main:web:notes"), { code: "not-found" })
  assert.throws(() => change("7", { action: "edit", text: " " }), { code: "bad-request" })
  const react = change("7", { action: "react", emoji: "👍" })
  assert.deepEqual([react.laneKey, change("7", edit).laneKey], [`web:${chat}:react`, `web:${chat}`])
  assert.deepEqual([await send(change("7", edit)), await send(react)], ["sent", "sent"])
  assert.deepEqual(text(), [{ text: "better", reaction: "👍" }])
  const gone = change("7", { action: "delete" })
  const late = change("7", edit)
  assert.deepEqual([await send(gone), await send(gone), await send(late)], ["sent", "sent", "rejected"])
  assert.throws(() => sender.resolveTarget("main", "work"), { code: "target-invalid" })
})

test("a conversation of the page is the main one of an agent that there is, or one that has a name", () => {
  const keyOf = (name: string) =>
    placeOf({ defaultAgentId: () => "main", isAgent: (id) => id !== "nobody" }, name).sessionKey
  assert.deepEqual(
    [" Main ", "notes", "web:notes", "agent:work:main", "agent:work:web:notes"].map(keyOf),
    ["main:main", "main:web:notes", "main:web:notes", "work:main", "work:web:notes"].map((key) => `agent:${key}`),
  )
  assert.throws(() => keyOf("agent:nobody:main"), { code: "not-found" })
  for (const name of ["", "a b", "-a", "x".repeat(65), "agent:main:chatapp:group:-1"])
    assert.throws(() => keyOf(name), { code: "bad-request" }, name)
})
