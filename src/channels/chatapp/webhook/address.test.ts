import assert from "node:assert/strict"
import { test } from "node:test"
import type { AccountSettings } from "../settings.ts"
import { webhookAddress, webhookWarnings } from "./address.ts"

const at = (webhookBind: string, webhookUrl: string) =>
  webhookAddress({ webhookBind, webhookPath: "/chatapp-webhook" } as AccountSettings, webhookUrl)
const warned = (bind: string, url: string, isOwnServer = false) =>
  webhookWarnings(at(bind, url), isOwnServer).map((warning) => warning.split(/[: ]/).slice(0, 3).join(" "))

test("the platform is told the path of the listener unless the address has one", () => {
  assert.deepEqual(at("[::1]:8787", "https://bot.example"), {
    bind: "[::1]:8787",
    host: "::1",
    port: 8787,
    path: "/chatapp-webhook",
    url: "https://bot.example/chatapp-webhook",
  })
  assert.equal(at("127.0.0.1:1", "https://bot.example/here").url, "https://bot.example/here")
})

test("what the platform does not take and what is not safe is said, each by itself", () => {
  assert.deepEqual(warned("127.0.0.1:8787", "https://bot.example"), [])
  assert.deepEqual(warned("127.0.0.1:8787", "https://bot.example:8443"), [])
  assert.deepEqual(warned("0.0.0.0:8787", "https://bot.example"), ["the listener speaks"])
  assert.deepEqual(warned("[::]:8787", "https://bot.example"), ["the listener speaks"])
  assert.deepEqual(warned("[::1]:8787", "http://bot.example"), ["webhookUrl is not"])
  assert.deepEqual(warned("127.0.0.1:8787", "https://bot.example:9000"), ["webhookUrl names port"])
  const near = ["localhost", "a.localhost", "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.9.9", "192.168.1.2"]
  for (const host of [...near, "169.254.1.1", "100.64.0.1", "[::1]", "[fd00::1]", "[fe80::1]"])
    assert.deepEqual(warned("127.0.0.1:8787", `https://${host}`), ["webhookUrl names this"], host)
  for (const host of ["10.example.com", "127.example.com", "172.32.0.1", "192.169.1.2", "[2001:db8::1]"])
    assert.deepEqual(warned("127.0.0.1:8787", `https://${host}`), [], host)
  assert.deepEqual(warned("127.0.0.1:8787", "http://127.0.0.1:9000", true), [])
})
