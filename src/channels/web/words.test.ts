import assert from "node:assert/strict"
import { test } from "node:test"
import { type Said, wordsInput } from "./words.ts"

const place = { agentId: "main", sessionKey: "agent:main:main" }
const said = (more: Partial<Said> = {}): Said => ({
  place,
  ref: "m1",
  text: "see https://example.org/a#b",
  files: [],
  sentAt: 1_000,
  timeText: "noon",
  ...more,
})
const file = (name: string, mediaType: string, head: Buffer) => ({
  path: `/media/${name}`,
  name,
  mediaType,
  bytes: head.length,
  head,
})
const asSaid = (files: unknown[]) => files as Said["files"]

test("the owner's own words are trusted, and the sites that they name come with them", async () => {
  const input = await wordsInput(said())
  assert.deepEqual([input.origin, input.trusted, "wrap" in input], ["owner", true, false])
  assert.deepEqual(input.sites, ["example.org", "https://example.org/a#b", "https://example.org/a"])
  assert.equal(input.header, "[the gateway's page, private chat, from the owner, noon]")
  assert.ok(!("context" in input) && !("media" in input) && !("about" in input))
})

test("text of files is somebody else's, a picture alone is not", async () => {
  const text = file("a.txt", "text/plain", Buffer.from("hello"))
  const head = Buffer.alloc(40)
  head.write("\x89PNG\r\n\x1a\n", "latin1")
  head.writeUInt32BE(5, 16)
  head.writeUInt32BE(5, 20)
  const picture = file("b.png", "image/png", head)
  const alone = await wordsInput(said({ files: asSaid([picture]) }))
  assert.deepEqual([alone.trusted, alone.media], [true, [{ path: "/media/b.png", mediaType: "image/png" }]])
  assert.match(alone.header ?? "", /\n\[file: image\/png, 40 bytes, \/media\/b\.png\]$/)
  const both = await wordsInput(said({ files: asSaid([text, picture]) }))
  assert.deepEqual([both.trusted, both.wrap, both.about], [false, false, { files: "a.txt, b.png" }])
  assert.deepEqual(both.context, [{ label: "Contents of file 1 of 2:", text: "hello" }])
  assert.match(both.header ?? "", /\n\[file 1 of 2: text\/plain, 5 bytes, \/media\/a\.txt\]\n\[file 2 of 2: /)
})

test("pictures are shown as long as all of them together are not too large", async () => {
  const head = Buffer.alloc(40)
  head.write("\x89PNG\r\n\x1a\n", "latin1")
  head.writeUInt32BE(5, 16)
  head.writeUInt32BE(5, 20)
  const pictures = [1, 2, 3, 4, 5].map((n) => ({ ...file(`${n}.png`, "image/png", head), bytes: 3 * 1024 * 1024 }))
  const input = await wordsInput(said({ files: asSaid(pictures) }))
  assert.equal(input.media?.length, 4)
})

test("an earlier message that is answered stands in front, and takes trust away where it is not the owner's", async () => {
  const answered = (more: object) =>
    ({ id: "1", text: "earlier", side: "out", files: [], buttons: [], ...more }) as never
  const foreign = await wordsInput(said({ answered: answered({}) }))
  assert.deepEqual(foreign.context, [{ label: "This answers an earlier message of yours:", text: "earlier" }])
  assert.deepEqual([foreign.trusted, foreign.wrap], [false, false])
  const own = await wordsInput(said({ answered: answered({ side: "in", provenance: { trusted: true } }) }))
  assert.deepEqual(own.context, [{ label: "This answers an earlier message of theirs:", text: "earlier", isOwn: true }])
  assert.equal(own.trusted, true)
  const long = await wordsInput(said({ answered: answered({ text: "x".repeat(4_001) }) }))
  assert.equal(long.context?.[0]?.text, `${"x".repeat(4_000)}…`)
  assert.ok(!("context" in (await wordsInput(said({ answered: answered({ text: "" }) })))))
})
