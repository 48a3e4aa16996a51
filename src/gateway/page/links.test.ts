import assert from "node:assert/strict"
import { networkInterfaces } from "node:os"
import { test } from "node:test"
import { type Clock, systemClock, systemIds } from "../../kernel/index.ts"
import { createLinkCodes } from "./link-codes.ts"
import { type LinkPlace, linkAddresses } from "./links.ts"

const addresses = (place: Partial<LinkPlace>) =>
  linkAddresses("/x", { bind: "loopback", port: 1, allowHttp: false, ...place })

test("a link works on this machine, at the public address, and in the network only where plain HTTP is allowed", () => {
  const local = "http://127.0.0.1:1/x"
  assert.deepEqual(addresses({}), { local, others: [] })
  assert.deepEqual(addresses({ allowHttp: true }), { local, others: [] })
  assert.deepEqual(addresses({ publicUrl: "https://bot.example/" }), { local, others: ["https://bot.example/x"] })
  assert.deepEqual(addresses({ bind: "192.168.1.5" }), { local: "http://192.168.1.5:1/x", others: [] })
  const open = addresses({ bind: "192.168.1.5", allowHttp: true, publicUrl: "https://bot.example" })
  assert.deepEqual(open.others, ["https://bot.example/x", "http://192.168.1.5:1/x"])
  assert.deepEqual(addresses({ bind: "2001:db8::1", allowHttp: true }).others, ["http://[2001:db8::1]:1/x"])
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outer = own.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address)
  for (const bind of ["lan", "0.0.0.0"]) {
    assert.deepEqual(addresses({ bind, allowHttp: true }), {
      local,
      others: outer.map((address) => `http://${address}:1/x`),
    })
  }
  for (const bind of ["::1", "::"]) assert.equal(addresses({ bind }).local, "http://[::1]:1/x")
  assert.deepEqual(addresses({ bind: "lan" }), { local, others: [] })
})

test("a code is taken once within five minutes, and only so many wait", () => {
  let now = 1_000
  const clock: Clock = { ...systemClock, now: () => now }
  const codes = createLinkCodes({ clock, ids: systemIds })
  const grant = { scopes: ["admin"], issuer: "own" } as const
  const { code, expiresAt } = codes.make(grant)
  assert.equal(expiresAt, now + 300_000)
  assert.deepEqual([codes.take(code)?.issuer, codes.take(code), codes.take("other")], ["own", undefined, undefined])
  const [late, intime] = [codes.make(grant), codes.make(grant)]
  now += 299_999
  assert.ok(codes.take(intime.code))
  now += 1
  assert.equal(codes.take(late.code), undefined)
  for (let n = 0; n < 100; n += 1) codes.make(grant)
  assert.throws(() => codes.make(grant), { code: "conflict" })
  now += 300_000
  codes.make(grant)
})
