import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { configSchema } from "../config/schema.ts"
import { secretWeakness } from "../kernel/index.ts"
import { findSecretWarnings } from "./secret-warnings.ts"

const good = "4f1c9a7be02d8356c1d0e9b7"
const weak: [secret: string, why: RegExp][] = [
  ["", /blank/],
  ["   ", /blank/],
  [good.slice(1), /shorter than 24/],
  [` ${good}`, /spaces at its ends/],
  [`${good} x`, /cannot be sent/],
  [`${good}\u0000`, /cannot be sent/],
  [`${good}é`, /cannot be sent/],
  ["a".repeat(40), /different characters/],
  ["<a-long-random-secret-here>", /placeholder/],
  ["change-me-change-me-change-me", /placeholder/],
]

describe("a secret that callers send", () => {
  for (const [secret, why] of weak) {
    test(`is weak: ${JSON.stringify(secret)}`, () => assert.match(secretWeakness(secret) ?? "", why))

    if (secret === "") continue
    test(`${JSON.stringify(secret)} as hook token is refused where others can reach it, and warned about elsewhere`, () => {
      const config = (bind: string) => ({ gateway: { bind }, hooks: { enabled: true, token: secret } })
      for (const bind of ["lan", "0.0.0.0", "192.168.1.5", "[2001:db8::1]"]) {
        const issue = configSchema.safeParse(config(bind)).error?.issues[0]
        assert.deepEqual(issue?.path, ["hooks", "token"], bind)
        assert.match(issue?.message ?? "", why)
        assert.ok(!issue?.message.includes(secret.trim() || "   "))
      }
      for (const bind of ["loopback", "127.0.0.1", "::1", "[::1]"]) {
        const [warning] = findSecretWarnings(configSchema.parse(config(bind)))
        assert.deepEqual(warning?.path, ["hooks", "token"], bind)
        assert.match(warning?.message ?? "", why)
      }
    })
  }

  test("is fine when it is long and random, and when the webhooks are off", () => {
    assert.equal(secretWeakness(good), undefined)
    const config = { gateway: { bind: "lan" }, hooks: { enabled: true, token: good } }
    assert.deepEqual(findSecretWarnings(configSchema.parse(config)), [])
    configSchema.parse({ gateway: { bind: "lan" }, hooks: { enabled: false, token: "short" } })
  })
})

test("the gateway's own token and the secrets of mappings are looked at too", () => {
  const mapping = {
    verify: { scheme: "github", secret: ["short", "0123456789abcdef"] },
    callbackUrl: "https://h/",
    callbackSecret: "s",
  }
  const config = configSchema.parse({ gateway: { auth: { token: "x".repeat(20) } }, hooks: { mappings: [mapping] } })
  assert.deepEqual(
    findSecretWarnings(config).map(({ path }) => path.join(".")),
    ["gateway.auth.token", "hooks.mappings.0.verify.secret", "hooks.mappings.0.callbackSecret"],
  )
})
