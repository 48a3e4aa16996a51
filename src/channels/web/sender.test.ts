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
import { routeOf } from "./place.ts"
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
