import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { parseAllowList } from "./access.ts"
import { type Door, noteLists } from "./shut-out.ts"
import { readShutOutAt, savePin } from "./store.ts"

test("who is missing from a list is marked, by id and by name, and who was let in with everybody", async (context) => {
  const store = await testStore(context)
  const name = { channel: "test", account: "default" }
  await store.write(async (write) => savePin(write, "test", "default", { name: "bo", senderId: "8", pinnedAt: 1 }))
  const note = (list: string[], policy: Door["policy"] = "pairing") =>
    noteLists(store, [{ ...name, policy, allow: parseAllowList(list, []) }])
  const at = readShutOutAt(store)
  assert.deepEqual(
    await note(["5", "6", "@Bo"]),
    [],
    "a list that is seen for the first time takes nothing from anybody",
  )
  assert.deepEqual(await note(["6", "5", "@bo", "7"]), [])
  assert.deepEqual(await note(["6", "7"]), ["5", "8"])
  assert.equal(at({ ...name, senderId: "6" }), undefined)
  assert.ok(at({ ...name, senderId: "5" }) && at({ ...name, senderId: "8" }))
  assert.equal(at({ ...name, account: "other", senderId: "5" }), undefined)
  assert.deepEqual(await note(["6", "7", "*"], "open"), [])
  assert.deepEqual(await note(["6", "7", "*"], "allowlist"), [], "it still lets everybody in")
  assert.equal(at({ ...name, senderId: "6" }), undefined)
  assert.deepEqual(await note(["6", "7"], "allowlist"), ["*"])
  assert.ok(at({ ...name, senderId: "9" }), "whoever it was")
  assert.deepEqual(await note(["6", "7"], "open"), [])
  assert.deepEqual(await note(["6", "7"], "pairing"), ["*"])
  assert.deepEqual(await note(["6", "7"], "disabled"), ["*"])
  assert.deepEqual(await note(["6"], "disabled"), ["7"])
  assert.deepEqual(await note(["6"], "disabled"), [])
})

test("of several accounts each has its own lists: who is taken off one is marked there alone", async (context) => {
  const store = await testStore(context)
  const door = (account: string, list: string[]): Door => {
    return { channel: "test", account, policy: "allowlist", allow: parseAllowList(list, []) }
  }
  assert.deepEqual(await noteLists(store, [door("a", ["5"]), door("b", ["5"])]), [])
  assert.deepEqual(await noteLists(store, [door("a", ["5"]), door("b", ["6"])]), ["5"])
  const at = (account: string) => readShutOutAt(store)({ channel: "test", account, senderId: "5" })
  assert.deepEqual([at("a"), typeof at("b")], [undefined, "number"])
})
