import assert from "node:assert/strict"
import { test } from "node:test"
import { AppError } from "../../../kernel/index.ts"
import { judgeMedia, judgeSend } from "./outcome.ts"
import type { MediaPayload, TextPayload } from "./payload.ts"

const retry = { attempts: 3, minDelayMs: 100, maxDelayMs: 1_000, jitter: 0 }
const failed = (code: string) =>
  new AppError("media-refused", `The file a.png cannot be sent: ${code}`, {
    cause: Object.assign(new Error(code), { code }),
  })

test("a file that the disk does not give out is tried again, for as long as anything is; one that is not there is not", () => {
  const judged = (code: string, attempt: number) => judgeMedia(failed(code), { attempt, retry })?.kind
  for (const code of ["EIO", "ESTALE", "EMFILE"]) assert.equal(judged(code, 1), "retry", code)
  assert.equal(judged("EIO", 3), "rejected")
  for (const code of ["ENOENT", "EACCES", "ELOOP"]) assert.equal(judged(code, 1), "rejected", code)
  assert.equal(judgeMedia(new TypeError("ours"), { attempt: 1, retry }), undefined)
})

/** What becomes of a message that the platform answered so. */
function judged(failure: Parameters<typeof judgeSend>[0], change: Partial<TextPayload> = {}, chatKind = "private") {
  const payload: TextPayload = { text: "<b>a</b>", plain: "a", parseMode: "HTML", linkPreview: true, ...change }
  const { error: _words, ...outcome } = {
    error: "",
    ...judgeSend(failure, { payload, rowKind: "text", attempt: 1, retry, chatKind, isReply: true }),
  }
  return outcome as { kind: string; delayMs?: number; payload?: Partial<TextPayload> }
}
const refused = (code: number, description: string) => ({ kind: "refused" as const, code, description })

test("what one refusal is about is left away for the next try, and nothing else of the message is", () => {
  const quoted = judged(refused(400, "Bad Request: QUOTE_TEXT_INVALID"), { quote: "said", replyTo: "4" })
  assert.equal(quoted.kind, "replace")
  assert.equal(quoted.payload?.quote, undefined)
  assert.equal(quoted.payload?.replyTo, "4")
  assert.equal(judged(refused(400, "Bad Request: QUOTE_TEXT_INVALID")).kind, "rejected")
  const unreadable = refused(400, "Bad Request: can't parse entities: Unsupported start tag")
  const { parseMode, ...plain } = judged(unreadable).payload ?? {}
  assert.deepEqual([parseMode, plain.text], [undefined, "a"])
  assert.equal(judged(unreadable, { parseMode: undefined as never }).kind, "rejected", "there is nothing plainer")
  const topic = refused(400, "Bad Request: message thread not found")
  assert.deepEqual(judged(topic, { threadId: "7" }).payload?.threadId, undefined)
  assert.equal(judged(topic, { threadId: "7" }).kind, "replace")
  // In a group the topic is who was meant.
  assert.equal(judged(topic, { threadId: "7" }, "supergroup").kind, "rejected")
  const moved = { ...refused(400, "Bad Request: group chat was upgraded"), migratedTo: "-1001" }
  assert.deepEqual(judged(moved, { replyTo: "4", quote: "said", threadId: "7" }, "group").payload, {
    text: "<b>a</b>",
    plain: "a",
    parseMode: "HTML",
    linkPreview: true,
    threadId: "7",
    movedTo: "-1001",
  })
  assert.equal(judged(moved, { movedTo: "-1001" }, "group").kind, "rejected")
})

test("a wait that the platform asks for lasts a second at least, and is one whatever it is asked for with", () => {
  const waits = (code: number, retryAfterSeconds?: number) => {
    const words = refused(code, "Too Many Requests")
    return judged(retryAfterSeconds === undefined ? words : { ...words, retryAfterSeconds }).delayMs
  }
  assert.deepEqual([waits(429), waits(429, 0), waits(429, 7), waits(400, 7)], [1_000, 1_000, 7_000, 7_000])
})

/** The same for a file with words below it. */
function judgedFile(failure: Parameters<typeof judgeSend>[0], change: object = {}, rowKind = "photo") {
  const caption = { text: "<b>a</b>", plain: "a", parseMode: "HTML" as const }
  const payload = { path: "/media/a.png", mediaType: "image/png", caption, ...change }
  const outcome = judgeSend(failure, { payload, rowKind, attempt: 1, retry, chatKind: "group", isReply: true })
  return outcome as { kind: string; payload?: Partial<MediaPayload & TextPayload> }
}

test("a file that is not taken as what it is goes as something simpler, once, and its words without their markup", () => {
  const as = (description: string, rowKind: string, change: object = {}) => {
    const { kind, payload } = judgedFile(refused(400, `Bad Request: ${description}`), change, rowKind)
    return payload?.sendAs ?? kind
  }
  for (const unfit of ["PHOTO_INVALID_DIMENSIONS", "IMAGE_PROCESS_FAILED", "wrong type of the web page content"]) {
    assert.equal(as(unfit, "photo"), "document", unfit)
    assert.equal(as(unfit, "document"), "rejected", unfit)
    assert.equal(as(unfit, "photo", { sendAs: "document" }), "rejected", unfit)
    assert.equal(as(unfit, "album", { path: undefined, items: [] }), "document", unfit)
    assert.equal(as(unfit, "album", { path: undefined, items: [], sendAs: "document" }), "rejected", unfit)
  }
  assert.equal(as("VIDEO_CONTENT_TYPE_INVALID", "video"), "document")
  assert.equal(as("AUDIO_CONTENT_URL_EMPTY", "audio"), "document")
  assert.equal(as("file_content_type mismatch", "animation"), "document")
  assert.equal(as("VOICE_MESSAGES_FORBIDDEN", "voice"), "audio")
  assert.equal(as("VOICE_MESSAGES_FORBIDDEN", "voice", { sendAs: "audio" }), "document")
  const unreadable = refused(400, "Bad Request: ENTITY_BOUNDS_INVALID")
  assert.deepEqual(judgedFile(unreadable).payload?.caption, { text: "a", plain: "a" })
  assert.equal(judgedFile(unreadable, { caption: undefined }).kind, "rejected")
})

test("the words of a file that may not be sent go alone, with the reason as text, whatever stands in it", () => {
  const refusals = [
    "not enough rights to send photos to the chat",
    "CHAT_SEND_PHOTOS_FORBIDDEN",
    "Request Entity Too Large",
    "file is too big",
    "CHAT_SEND_A_FORBIDDEN in <Crew>",
  ]
  for (const why of refusals) {
    const { kind, payload } = judgedFile(refused(400, `Bad Request: ${why}`))
    const plain = `a\n\n(The file cannot be sent: ${why})`
    assert.deepEqual([kind, payload?.plain, payload?.path, payload?.linkPreview], ["replace", plain, undefined, false])
    assert.equal(payload?.text, plain.replace("a", "<b>a</b>").replace("<Crew>", "&lt;Crew&gt;"))
  }
  assert.equal(
    judgedFile(refused(400, "Bad Request: not enough rights to send text messages to the chat")).kind,
    "rejected",
  )
  const { payload } = judgedFile({ kind: "page", status: 413 }, { caption: { text: "a < b", plain: "a < b" } })
  assert.equal(payload?.text, "a < b\n\n(The file cannot be sent: it is too large)")
})

test("a page before the platform tells whether the message can have arrived", () => {
  const kinds = (...statuses: number[]) => statuses.map((status) => judged({ kind: "page", status }).kind)
  assert.deepEqual(
    kinds(300, 302, 399, 403, 407, 429, 502, 503),
    Array.from({ length: 8 }, () => "retry"),
  )
  assert.deepEqual(
    kinds(400, 404, 413, 499),
    Array.from({ length: 4 }, () => "rejected"),
  )
  assert.deepEqual(
    kinds(200, 299, 500, 501, 504),
    Array.from({ length: 5 }, () => "uncertain"),
  )
  assert.equal(judged(refused(500, "Internal Server Error")).kind, "retry")
  assert.equal(judged(refused(499, "odd")).kind, "rejected")
  assert.equal(judged({ kind: "lost", reason: "reset" }).kind, "uncertain")
  assert.equal(judged({ kind: "unsent", reason: "refused" }).kind, "retry")
})
