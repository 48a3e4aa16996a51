import assert from "node:assert/strict"
import { test } from "node:test"
import { type Clock, systemClock } from "../clock.ts"
import { clientOf, createFailureThrottle } from "./throttle.ts"

const clients: [address: string, client: string][] = [
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:0DB8:0001:0002:ffff::", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["unknown", "unknown"],
]
for (const [address, client] of clients) {
  test(`${address} is the client ${client}`, () => assert.equal(clientOf(address), client))
}

test("all addresses of one network of 64 bits share their tries, and other networks have their own", () => {
  const throttle = createFailureThrottle({ clock: systemClock, limit: 20 })
  for (let n = 1; n <= 20; n += 1) assert.equal(throttle.fail(`2001:db8:1:2::${n.toString(16)}`), 0)
  assert.ok(throttle.fail("2001:db8:1:2:abcd::1") > 0)
  assert.equal(throttle.fail("2001:db8:1:3::1"), 0)
})

test("a window over, the tries begin anew; until then the wait grows shorter, and is a second at least", () => {
  let now = 1_000
  const clock: Clock = { ...systemClock, monotonic: () => now }
  const usual = createFailureThrottle({ clock })
  for (let tries = 1; tries <= 20; tries += 1) assert.equal(usual.fail("192.0.2.1"), 0)
  assert.equal(usual.fail("192.0.2.1"), 60)
  const throttle = createFailureThrottle({ clock, limit: 2, windowMs: 10_000 })
  const fail = () => throttle.fail("192.0.2.1")
  assert.deepEqual([fail(), fail(), fail()], [0, 0, 10])
  now += 7_500
  assert.equal(fail(), 3)
  now += 2_499
  assert.equal(fail(), 1)
  now += 1
  assert.deepEqual([fail(), fail(), fail()], [0, 0, 10])
})

test("a flood from many addresses is forgotten from its oldest on", () => {
  const throttle = createFailureThrottle({ clock: systemClock, limit: 1 })
  const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
  for (let n = 0; n < 10_000; n += 1) throttle.fail(address(n))
  assert.ok(throttle.fail(address(1)) > 0, "all of them fit")
  throttle.fail("192.0.2.1")
  assert.ok(throttle.fail(address(1)) > 0)
  assert.equal(throttle.fail(address(0)), 0)
})
