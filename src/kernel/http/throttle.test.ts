import assert from "node:assert/strict"
import { test } from "node:test"
import { systemClock } from "../clock.ts"
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
