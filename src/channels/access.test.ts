import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type DirectPolicy, decideDirect, parseAllowList } from "./access.ts"

const prefixes = ["chatapp:", "tg:"]

describe("an allow list", () => {
  test("takes ids, names and the wildcard, with or without the channel's prefixes", () => {
    const list = parseAllowList([" 42 ", "chatapp: 43", "CHATAPP:tg:44", "@Ann", "bob", "tg:@Cid", ""], prefixes)
    assert.deepEqual([...list.ids], ["42", "43", "44"])
    assert.deepEqual([...list.names], ["ann", "bob", "cid"])
    assert.equal(list.everybody, false)
    assert.equal(parseAllowList(["*"], prefixes).everybody, true)
  })
})

describe("a direct message", () => {
  const listed = { id: "42", username: "ann" }
  const named = { id: "50", username: "Bob" }
  const paired = { id: "60" }
  const stranger = { id: "70", username: "eve" }
  const decide = (
    policy: DirectPolicy,
    sender: { id: string; username?: string; isBot?: boolean; isService?: boolean },
    more: string[] = [],
  ) => {
    const allow = parseAllowList(["42", "@bob", ...more], prefixes)
    const namesOf = (id: string) => (id === "50" ? ["bob"] : [])
    const decision = decideDirect(policy, allow, new Set(["60"]), sender, namesOf)
    return decision.kind === "accept" ? `${decision.rule} ${decision.origin} ${decision.trusted}` : decision.rule
  }
  const table: [DirectPolicy, string, string, string, string][] = [
    ["pairing", "listed-id owner true", "listed-name approved-sender true", "paired approved-sender true", "pairing"],
    [
      "allowlist",
      "listed-id owner true",
      "listed-name approved-sender true",
      "paired approved-sender true",
      "not-listed",
    ],
    [
      "open",
      "listed-id owner true",
      "listed-name approved-sender true",
      "paired approved-sender true",
      "everybody approved-sender false",
    ],
    ["disabled", "disabled", "disabled", "disabled", "disabled"],
  ]
  for (const [policy, ...expected] of table) {
    test(`under policy ${policy} is decided by the sender's standing`, () => {
      const senders = [listed, named, paired, stranger]
      assert.deepEqual(
        senders.map((sender) => decide(policy, sender)),
        expected,
      )
    })
  }

  test("of anybody is accepted but not trusted when the wildcard is listed", () => {
    assert.equal(decide("allowlist", stranger, ["*"]), "everybody approved-sender false")
  })

  test("of another bot is never accepted, even when it is listed", () => {
    assert.equal(decide("open", { id: "42", isBot: true }), "bot")
  })

  test("of an account of the platform's own is never accepted, even when it is listed", () => {
    assert.equal(decide("open", { id: "42", isService: true }), "service-account")
  })

  test("is accepted by the id that a listed name is pinned to, under any name, and by no other id", () => {
    assert.equal(decide("allowlist", { id: "50", username: "renamed" }), "listed-name approved-sender true")
    assert.equal(decide("allowlist", { id: "51", username: "bob" }), "not-listed")
  })

  test("is not accepted for a name that is listed as an id, nor for a name that only begins alike", () => {
    assert.equal(decide("allowlist", { id: "71", username: "42" }), "not-listed")
    assert.equal(decide("allowlist", { id: "72", username: "bobby" }), "not-listed")
  })
})
