// The sticker cache on a real store.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { testStore } from "../../../../test/support/store.ts"
import { type Sticker, createStickers } from "./index.ts"

const cat = {
  fileId: "file-cat",
  fileUniqueId: "cat",
  account: "default",
  emoji: "😂",
  setName: "HappyCats_by_somebody",
  description: "A laughing orange cat holds its belly",
}
const dog = { ...cat, fileId: "file-dog", fileUniqueId: "dog", emoji: "👋", setName: "DogDays" }
const heart = { ...cat, fileId: "file-heart", fileUniqueId: "heart", emoji: "❤️", setName: "", description: "" }

async function begin(context: TestContext) {
  const store = await testStore(context)
  const stickers = createStickers({ store })
  await stickers.put(cat)
  await stickers.put({ ...dog, description: "A dog waves goodbye with a red scarf, über den Zaun" })
  await stickers.put(heart)
  const found = async (query: string, limit = 5) =>
    (await stickers.search("default", query, limit)).map(({ fileUniqueId }) => fileUniqueId)
  return { store, stickers, found }
}

describe("stickers", () => {
  test("are kept with all that the specification names, also over a restart", async (context) => {
    const { store } = await begin(context)
    const { cachedAt, ...kept } = createStickers({ store }).get("default", "cat") as Sticker
    assert.deepEqual(kept, cat)
    assert.equal(new Date(cachedAt).toISOString(), cachedAt)
    assert.equal(createStickers({ store }).get("default", "unknown"), undefined)
  })

  test("seen again take the new file id and keep what is known of them", async (context) => {
    const { stickers } = await begin(context)
    await stickers.put({ ...cat, fileId: "newer", description: "" })
    const kept = stickers.get("default", "cat")
    assert.deepEqual([kept?.fileId, kept?.description], ["newer", cat.description])
  })

  test("described for one account are known to the others, who cannot send them", async (context) => {
    const { stickers } = await begin(context)
    assert.equal(stickers.get("other", "cat")?.description, cat.description)
    assert.equal(stickers.get("other", "cat")?.account, "default")
    assert.deepEqual(await stickers.search("other", "cat", 5), [])
    await stickers.put({ ...cat, account: "other", fileId: "theirs", description: "" })
    assert.equal(stickers.get("other", "cat")?.fileId, "theirs")
  })

  test("are found by words in any order, with typing errors, by emoji and by the name of their set", async (context) => {
    const { found } = await begin(context)
    assert.deepEqual(await found("laughing cat"), ["cat"])
    assert.deepEqual(await found("cat lauhging"), ["cat"])
    assert.deepEqual(await found("DOG"), ["dog"])
    assert.deepEqual(await found("uber"), ["dog"])
    assert.deepEqual(await found("😂"), ["cat"])
    assert.deepEqual(await found("❤"), ["heart"])
    assert.deepEqual(await found("HappyCats_by_somebody"), ["cat"])
    assert.deepEqual(await found("happy"), ["cat"])
    assert.deepEqual(await found("zebra"), [])
    assert.deepEqual(await found(""), [])
  })

  test("are found as soon as they are kept, the best first, as many as asked for", async (context) => {
    const { stickers, found } = await begin(context)
    assert.deepEqual(await found("sleeping"), [])
    await stickers.put({ ...dog, fileUniqueId: "sleepy", description: "A sleeping dog" })
    assert.deepEqual(await found("sleeping dog"), ["sleepy", "dog"])
    assert.deepEqual(await found("sleeping dog", 1), ["sleepy"])
  })

  test("beyond the most that are kept the oldest go", async (context) => {
    let now = 1_000
    const clock = { now: () => now, monotonic: () => now, sleep: async () => undefined }
    const store = await testStore(context, { clock })
    const stickers = createStickers({ store })
    const insert = store.handle.raw.prepare("insert into sticker values (?, 'f', 'default', '', '', '', ?)")
    store.handle.raw.exec("begin")
    for (let index = 0; index < 2_000; index += 1) insert.run(`s${index}`, index)
    store.handle.raw.exec("commit")
    now = 9_000
    await stickers.put(cat)
    assert.equal(stickers.get("default", "s0"), undefined)
    assert.ok(stickers.get("default", "s1"))
    assert.ok(stickers.get("default", "cat"))
  })
})
