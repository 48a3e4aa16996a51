// Files of messages: from the platform's emulator to what a turn is given, with everything that can go wrong between.
import assert from "node:assert/strict"
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { Readable } from "node:stream"
import { type TestContext, describe, test } from "node:test"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { startEmulator } from "../../../../emulator/index.ts"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { systemClock } from "../../../kernel/index.ts"
import { JobPostponed } from "../../../store/index.ts"
import { type Bench, type BenchOptions, startBench } from "../test-bench/bench.ts"
import type { Client } from "../client.ts"
import { downloadFile } from "./download.ts"
import { MediaFolder } from "./keep.ts"
import { sniff } from "../../shared/media/sniff.ts"

const owner = 4242
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const webp = Buffer.from(
  "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00",
  "latin1",
)

async function begin(context: TestContext, options: BenchOptions = {}): Promise<Bench> {
  const bench = await startBench({ ...options, chatapp: { allowFrom: [owner], ...options.chatapp } })
  context.after(() => bench.end())
  bench.emulator.control.addUser({ id: owner, firstName: "Olga" })
  return bench
}

type Media = Parameters<Bench["emulator"]["control"]["sendMedia"]>[0]

/** Sends a file and gives the input of its turn, fetched. */
async function receive(bench: Bench, media: Omit<Media, "userId">): Promise<TurnInput> {
  const before = bench.jobs().length
  bench.emulator.control.sendMedia({ userId: owner, ...media })
  await bench.until(() => bench.jobs().length > before, "a job")
  return await fetch(bench)
}

async function fetch(bench: Bench): Promise<TurnInput> {
  const input = bench.jobs().at(-1)?.input
  assert.ok(input)
  return await bench.channel.preparation.fetch(input, AbortSignal.timeout(20_000))
}

const notes = (input: TurnInput) => (input.header ?? "").split("\n").slice(1)

describe("a file of a message", () => {
  test("is kept below the media folder, readable by nobody else, and shown when it is a picture", async (context) => {
    const bench = await begin(context)
    const input = await receive(bench, { kind: "photo", data: picture, caption: "what is this?" })
    const [media] = input.media ?? []
    assert.equal(media?.mediaType, "image/png")
    assert.ok(media?.path.startsWith(join(bench.folder, "media", "inbound")))
    assert.deepEqual(readFileSync(media?.path ?? ""), picture)
    assert.equal(statSync(media?.path ?? "").mode & 0o777, 0o600)
    assert.deepEqual(notes(input), [`[file, photo: image/png, ${picture.length} bytes, ${media?.path}]`])
    assert.equal(input.text, "<media:photo>\nwhat is this?")
    assert.equal(input.pending, undefined)
    assert.equal(input.trusted, true)
  })

  test("that is no picture is told of by path, type and size, and text is shown inside a boundary", async (context) => {
    const bench = await begin(context)
    const pdf = await receive(bench, { kind: "document", data: Buffer.from("%PDF-1.7 \x00"), name: "../../a\nb.pdf" })
    assert.match(notes(pdf)[0] ?? "", /^\[file, document: application\/pdf, 10 bytes, \/.+\/[0-9a-f]{24}-10\.pdf\]$/)
    assert.equal(pdf.media, undefined)
    const text = await receive(bench, { kind: "document", data: Buffer.from("one\ntwo"), name: "notes.md" })
    assert.deepEqual(text.context, [{ label: "Contents of file, document:", text: "one\ntwo" }])
    // Its sender has passed the words on and not said them: his own stand as they are, and the turn is one with others'.
    assert.deepEqual([text.trusted, text.wrap], [false, false])
  })

  test("is what its bytes say, not what it is called", async (context) => {
    const bench = await begin(context)
    const claimed = { mimeType: "image/png", name: "cat.png" }
    const page = await receive(bench, { kind: "document", data: Buffer.from("<html>\x00"), ...claimed })
    assert.equal(page.media, undefined)
    assert.match(notes(page)[0] ?? "", /application\/octet-stream/)
    const hidden = await receive(bench, { kind: "document", data: picture, mimeType: "text/plain", name: "a.txt" })
    assert.equal(hidden.media?.[0]?.mediaType, "image/png")
  })

  test("is not shown when it has more pixels than a model takes", async (context) => {
    const bench = await begin(context)
    const bomb = Buffer.from(picture)
    bomb.writeUInt32BE(30_000, 16)
    bomb.writeUInt32BE(30_000, 20)
    const input = await receive(bench, { kind: "document", data: bomb, name: "big.png", mimeType: "image/png" })
    assert.equal(input.media, undefined)
    assert.match(notes(input)[0] ?? "", /image\/png/)
  })

  test("above the limit is left out with a note, and nothing is downloaded", async (context) => {
    const bench = await begin(context, { chatapp: { mediaMaxMb: 0.001 } })
    const input = await receive(bench, { kind: "document", data: Buffer.alloc(3_000), name: "a.bin" })
    assert.deepEqual(notes(input), [
      "[file, document: left out: 3 KB is more than the 0.001 MB that are taken in; say so to the sender]",
    ])
    assert.deepEqual(bench.emulator.control.calls({ method: "getFile" }), [])
    assert.ok(bench.logLines.some((line) => line.includes("file left out")))
  })

  test("above the platform's own limit is left out with a note that blames no other", async (context) => {
    const bench = await begin(context, { chatapp: { mediaMaxMb: 50 } })
    const description = "Bad Request: file is too big"
    bench.emulator.control.fault({ kind: "status", method: "getFile", status: 400, description })
    const input = await receive(bench, { kind: "document", data: Buffer.alloc(3000), name: "a.bin" })
    assert.deepEqual(notes(input), [
      "[file, document: left out: 3 KB is more than the platform hands out to bots (20 MB); say so to the sender]",
    ])
  })

  test("is asked for again when the network failed, and the token stands in no log line", async (context) => {
    const bench = await begin(context)
    bench.emulator.control.fault({ kind: "cut", method: "getFile", times: 2 })
    const input = await receive(bench, { kind: "photo", data: picture })
    assert.equal(input.media?.length, 1)
    assert.equal(bench.emulator.control.calls({ method: "getFile" }).length, 3)
    const secret = bench.emulator.token.split(":")[1] ?? "-"
    assert.ok(!bench.logLines.join("").includes(secret))
    assert.ok(!JSON.stringify(input).includes(secret))
  })

  test("that was waited for already is waited for no more: its turn is told that it is not to be had", async (context) => {
    // The pauses between tries pass at once.
    const sleep: typeof systemClock.sleep = (ms, signal) => systemClock.sleep(ms < 10_000 ? 1 : ms, signal)
    const bench = await begin(context, { clock: { ...systemClock, sleep } })
    bench.emulator.control.fault({ kind: "status", status: 500, method: "getFile", times: 0 })
    bench.emulator.control.sendMedia({ userId: owner, kind: "photo", data: picture })
    await bench.until(() => bench.jobs().length === 1, "a job")
    const { input } = bench.jobs()[0] ?? assert.fail()
    const late = { ...input, pending: { ...(input.pending as object), isLate: true } }
    const told = await bench.channel.preparation.fetch(late, AbortSignal.timeout(20_000))
    assert.match(notes(told)[0] ?? "", /left out: it could not be downloaded; the sender can send it again\]$/)
    assert.equal(bench.jobs().length, 1)
    const first = await bench.channel.preparation.fetch(input, AbortSignal.timeout(20_000))
    assert.match(notes(first)[0] ?? "", /cannot be fetched yet; it will be shown by itself as soon as it is there\]$/)
    assert.deepEqual(
      bench.jobs().map(({ kind }) => kind),
      ["turn", "late-files"],
    )
  })

  test("that the platform does not hand out costs the turn only a note", async (context) => {
    const bench = await begin(context)
    const document = { file_id: "gone", file_unique_id: "AQADgone", file_name: "x.pdf" }
    bench.emulator.control.sendRaw({ userId: owner, message: { document, caption: "read it" } })
    await bench.until(() => bench.jobs().length === 1, "a job")
    assert.deepEqual(notes(await fetch(bench)), ["[file, document: left out: the platform does not hand it out]"])
  })

  test("that cannot be shown itself has the platform's small picture of it shown, where there is one", async (context) => {
    const bench = await begin(context)
    const [size] = bench.emulator.control.sendMedia({ userId: owner, kind: "photo", data: picture }).photo ?? []
    const film = {
      file_id: "gone",
      file_unique_id: "AQADfilm",
      width: 1,
      height: 1,
      duration: 2,
      mime_type: "video/mp4",
    }
    const ask = async (thumbnail: object) => {
      const before = bench.jobs().length
      bench.emulator.control.sendRaw({ userId: owner, message: { video: { ...film, thumbnail }, caption: "look" } })
      await bench.until(() => bench.jobs().length > before, "a job")
      return await fetch(bench)
    }
    const shown = await ask({ ...size, file_unique_id: "AQADstill" })
    assert.equal(shown.media?.[0]?.mediaType, "image/png")
    assert.match(notes(shown).join(), /does not hand it out.*A small preview of it is shown\./)
    const none = await ask({ ...size, file_id: "gone, too", file_unique_id: "AQADother" })
    assert.equal(none.media, undefined)
    assert.doesNotMatch(notes(none).join(), /preview/)
  })

  test("is told of and not shown where those before it fill what a model takes at once", async (context) => {
    const bench = await begin(context)
    const large = (n: number) => Buffer.concat([picture, Buffer.alloc(3_500_000, n)])
    for (const n of [1, 2, 3, 4]) {
      bench.emulator.control.sendMedia({ userId: owner, kind: "photo", data: large(n), albumId: "1" })
    }
    await bench.until(() => bench.jobs().length === 4, "a job for each")
    const { preparation } = bench.channel
    const whole = preparation.merge(bench.jobs().map((job) => job.input))
    const input = await preparation.fetch(whole, AbortSignal.timeout(60_000))
    assert.equal(input.media?.length, 3)
    assert.deepEqual(
      notes(input).flatMap((note) => /^\[file (\d) of 4, photo: image\/png/.exec(note)?.[1] ?? []),
      ["1", "2", "3", "4"],
    )
  })

  test("is downloaded once, however often it comes", async (context) => {
    const bench = await begin(context)
    const [one, two] = [await receive(bench, { kind: "photo", data: picture }), await fetch(bench)]
    assert.deepEqual(one.media, two.media)
    assert.equal(bench.emulator.control.calls({ method: "getFile" }).length, 1)
  })

  test("that takes long gives the turn's place to others, and goes on meanwhile", async (context) => {
    const sleep: typeof systemClock.sleep = (ms, signal) => systemClock.sleep(ms === 10_000 ? 1 : ms, signal)
    const bench = await begin(context, { clock: { ...systemClock, sleep } })
    bench.emulator.control.fault({ kind: "slow", method: "getFile", times: 1, delayMs: 300 })
    await assert.rejects(receive(bench, { kind: "photo", data: picture }), JobPostponed)
    for (;;) {
      const input = await fetch(bench).catch((error: unknown) => error)
      if (input instanceof JobPostponed) continue
      assert.equal((input as TurnInput).media?.length, 1)
      break
    }
    assert.equal(bench.emulator.control.calls({ method: "getFile" }).length, 1)
  })

  test("of the message that is answered comes along", async (context) => {
    const bench = await begin(context)
    const shown = bench.emulator.control.sendMedia({ userId: owner, kind: "photo", data: picture })
    bench.emulator.control.sendText({ userId: owner, text: "and this?", replyTo: shown.message_id })
    await bench.until(() => bench.jobs().length === 2, "two jobs")
    const input = await fetch(bench)
    assert.equal(input.media?.length, 1)
    assert.match(notes(input)[0] ?? "", /^\[file of the message that is answered, photo: /)
    assert.equal(input.context?.[0]?.text, "<media:photo>")
  })
})

describe("a Bot API server of one's own", () => {
  async function local(context: TestContext, localFileRoots?: string[]): Promise<Bench> {
    const emulator = await startEmulator({ seed: 3, localMode: true })
    return await begin(context, { emulator, ...(localFileRoots ? { chatapp: { localFileRoots } } : {}) })
  }

  test("has its files read only below the folders that are trusted", async (context) => {
    const untrusted = await local(context)
    const input = await receive(untrusted, { kind: "photo", data: picture })
    assert.equal(input.media, undefined)
    assert.match(notes(input)[0] ?? "", /localFileRoots/)
    const path = String((await getFile(untrusted, input)).file_path)
    untrusted.setConfig({ allowFrom: [owner], localFileRoots: [dirname(dirname(path))] })
    assert.equal((await fetch(untrusted)).media?.length, 1)
  })

  test("is not followed out of them by a link", async () => {
    const root = temporaryFolder()
    const outside = join(temporaryFolder(), "secret.png")
    writeFileSync(outside, picture)
    symlinkSync(outside, join(root, "link.png"))
    const folder = new MediaFolder(temporaryFolder())
    const outcome = async (path: string) => {
      const client = fakeClient(async () => ({ file_id: "f", file_unique_id: "u", file_path: path }))
      return await downloadFile(
        { fileId: "f", uniqueId: path },
        downloadOptions(client, folder, { localRoots: [root] }),
      )
    }
    const [link, above, missing] = [join(root, "link.png"), join(root, "..", "x"), join(root, "none.png")]
    for (const path of [link, outside, above, missing, root]) {
      assert.deepEqual([path, (await outcome(path)).kind], [path, "left-out"])
    }
    mkdirSync(join(root, "photos"))
    writeFileSync(join(root, "photos", "1.png"), picture)
    assert.equal((await outcome(join(root, "photos", "1.png"))).kind, "kept")
  })

  test("has no file taken from it that is larger than is taken in, neither now nor when it is kept already", async () => {
    const root = temporaryFolder()
    const path = join(root, "1.png")
    writeFileSync(path, Buffer.concat([picture, Buffer.alloc(1_000)]))
    const folder = new MediaFolder(temporaryFolder())
    let asked = 0
    // The server does not say how large it is.
    const client = fakeClient(async () => ((asked += 1), { file_id: "f", file_unique_id: "u", file_path: path }))
    const outcome = async (maxBytes: number) => {
      const got = await downloadFile(
        { fileId: "f", uniqueId: "AQADlarge" },
        { ...downloadOptions(client, folder, { localRoots: [root] }), maxBytes },
      )
      return got.kind === "kept" ? got.kind : `${got.why} ${got.bytes}`
    }
    const bytes = picture.length + 1_000
    assert.deepEqual([await outcome(bytes - 1), existsSync(folder.path)], [`too-large ${bytes}`, false])
    assert.equal(await outcome(bytes), "kept")
    assert.equal(await outcome(bytes - 1), `too-large ${bytes}`)
    assert.equal(asked, 2, "what is kept is not asked for again")
  })
})

async function getFile(bench: Bench, _input: TurnInput): Promise<{ file_path?: string }> {
  const pending = bench.jobs().at(-1)?.input.pending as { files: { fileId: string }[] }
  const url = `${bench.emulator.url}/bot${bench.emulator.token}/getFile?file_id=${pending.files[0]?.fileId}`
  return ((await (await globalThis.fetch(url)).json()) as { result: { file_path?: string } }).result
}

function fakeClient(getFileResult: () => Promise<unknown>, chunks?: () => AsyncIterable<Buffer>): Client {
  return {
    call: async () => ({ ok: true, value: await getFileResult() }),
    download: async (
      _path: string,
      _limits: unknown,
      consume: (bytes: AsyncIterable<Buffer>, size: undefined) => unknown,
    ) => ({
      ok: true,
      value: await consume(chunks?.() as AsyncIterable<Buffer>, undefined),
    }),
  } as unknown as Client
}

function downloadOptions(client: Client, folder: MediaFolder, more: { localRoots?: string[] } = {}) {
  const signal = AbortSignal.timeout(20_000)
  return {
    client: () => client,
    folder,
    maxBytes: 100_000,
    timeoutMs: 20_000,
    localRoots: [],
    clock: systemClock,
    signal,
    ...more,
  }
}

test("a kept file that is empty, or shorter than it was, is fetched again and not shown", async (context) => {
  const bench = await begin(context)
  const first = await receive(bench, { kind: "photo", data: picture })
  const path = first.media?.[0]?.path ?? ""
  for (const damaged of [Buffer.alloc(0), picture.subarray(0, 20)]) {
    writeFileSync(path, damaged)
    const again = await fetch(bench)
    assert.equal(again.media?.[0]?.path, path)
    assert.deepEqual(readFileSync(path), picture)
  }
  assert.equal(bench.emulator.control.calls({ method: "getFile" }).length, 3)
  await fetch(bench)
  assert.equal(bench.emulator.control.calls({ method: "getFile" }).length, 3, "a whole one is not")
})

test("a server that sends more than it said is cut off at the limit, and nothing of it stays", async () => {
  const root = temporaryFolder()
  let sent = 0
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      sent += 10_000
      yield Buffer.alloc(10_000)
    }
  }
  const client = fakeClient(
    async () => ({ file_id: "f", file_unique_id: "u", file_size: 1_000, file_path: "a" }),
    endless,
  )
  const outcome = await downloadFile({ fileId: "f", uniqueId: "u" }, downloadOptions(client, new MediaFolder(root)))
  assert.equal(outcome.kind === "left-out" && outcome.why, "too-large")
  assert.ok(sent < 1_000_000, `${sent} bytes were taken`)
  assert.deepEqual(readdirSync(join(root, "inbound")), [])
})

test("a file that two accounts bring at the same time is whole for both", async () => {
  const folder = new MediaFolder(temporaryFolder())
  const gate = Promise.withResolvers<void>()
  async function* halves(): AsyncGenerator<Buffer> {
    yield picture.subarray(0, 20)
    await gate.promise
    yield picture.subarray(20)
  }
  const limits = { maxBytes: 100_000, claimed: undefined, signal: AbortSignal.timeout(60_000) }
  const slow = folder.save("u", halves(), limits)
  const quick = await folder.save("u", Readable.from([picture]), limits)
  assert.deepEqual(readFileSync(quick.path), picture)
  gate.resolve()
  const late = await slow
  assert.equal(late.path, quick.path)
  assert.deepEqual(readFileSync(late.path), picture)
  assert.equal(readdirSync(folder.path).length, 1)
})

test("files go when they are old, and the oldest first when there are too many", async () => {
  const root = temporaryFolder()
  const folder = new MediaFolder(root)
  mkdirSync(folder.path)
  const now = Date.now()
  const put = (name: string, ageDays: number) => {
    writeFileSync(join(folder.path, name), "x")
    utimesSync(join(folder.path, name), (now - ageDays * 86_400_000) / 1000, (now - ageDays * 86_400_000) / 1000)
  }
  put("new.png", 1)
  put("old.png", 8)
  assert.deepEqual(await folder.clean(now), { removed: 1 })
  assert.deepEqual(readdirSync(folder.path), ["new.png"])
})

test("types are told by content, claims are believed only where content says nothing", () => {
  assert.equal(sniff(Buffer.from("\xff\xd8\xff\xe0", "latin1"), "application/pdf").mediaType, "image/jpeg")
  assert.equal(sniff(webp, undefined).mediaType, "image/webp")
  assert.equal(sniff(Buffer.from("a,b\n1,2"), "text/csv").mediaType, "text/csv")
  assert.equal(sniff(Buffer.from("a\x00b"), "image/svg+xml").mediaType, "application/octet-stream")
  assert.equal(sniff(Buffer.from("<svg/>"), "image/svg+xml").mediaType, "text/plain")
  assert.equal(sniff(Buffer.from("x"), "text/html\r\nx: y").mediaType, "text/plain")
})

describe("a sticker", () => {
  test("is looked at once; from then on its words stand for it", async (context) => {
    let looked = 0
    const describePicture = async () => {
      looked += 1
      return "A cat that waves"
    }
    const bench = await begin(context, { describePicture })
    const sticker = {
      kind: "sticker" as const,
      data: webp,
      emoji: "👋",
      setName: "Cats",
      name: "s.webp",
      mimeType: "image/webp",
    }
    for (let time = 0; time < 2; time += 1) {
      const input = await receive(bench, sticker)
      assert.equal(input.text, "<media:sticker> 👋 from the set ⟦Cats⟧ (⟦A cat that waves⟧)")
      assert.equal(input.media, undefined)
      const { fileId, fileUniqueId, ...rest } = input.sticker ?? { fileId: "", fileUniqueId: "" }
      assert.ok(fileId && fileUniqueId)
      assert.deepEqual(rest, { emoji: "👋", setName: "Cats", cachedDescription: "A cat that waves" })
    }
    assert.equal(looked, 1)
    assert.equal(bench.emulator.control.calls({ method: "getFile" }).length, 1)
    const row = bench.store.handle.prepare("select emoji, set_name, description from sticker").get()
    assert.deepEqual({ ...row }, { emoji: "👋", set_name: "Cats", description: "A cat that waves" })
  })

  test("that is answered has its words where it stands, to the letter", async (context) => {
    const bench = await begin(context, { describePicture: async () => "It says $& and $1" })
    const sticker = { kind: "sticker" as const, data: webp, emoji: "👋", name: "s.webp", mimeType: "image/webp" }
    const shown = bench.emulator.control.sendMedia({ userId: owner, ...sticker })
    bench.emulator.control.sendText({ userId: owner, text: "why <media:sticker> 👋?", replyTo: shown.message_id })
    await bench.until(() => bench.jobs().length === 2, "two jobs")
    const input = await fetch(bench)
    assert.equal(input.context?.[0]?.text, "<media:sticker> 👋 (⟦It says $& and $1⟧)")
    assert.equal(input.text, "why <media:sticker> 👋?")
    const itself = await bench.channel.preparation.fetch(
      bench.jobs()[0]?.input ?? assert.fail(),
      AbortSignal.timeout(20_000),
    )
    assert.equal(itself.text, "<media:sticker> 👋 (⟦It says $& and $1⟧)")
  })

  test("is shown itself when nobody can describe it", async (context) => {
    const bench = await begin(context)
    const input = await receive(bench, {
      kind: "sticker",
      data: webp,
      emoji: "👋",
      name: "s.webp",
      mimeType: "image/webp",
    })
    assert.equal(input.text, "<media:sticker> 👋")
    assert.equal(input.media?.[0]?.mediaType, "image/webp")
  })

  test("that moves is told of by its emoji and set, and nothing is fetched", async (context) => {
    const bench = await begin(context)
    const data = Buffer.from("\x1f\x8b")
    const input = await receive(bench, { kind: "sticker", data, emoji: "🎉", mimeType: "application/x-tgsticker" })
    assert.equal(input.text, "<media:sticker> 🎉")
    assert.equal(input.pending, undefined)
    assert.deepEqual(bench.emulator.control.calls({ method: "getFile" }), [])
  })
})
