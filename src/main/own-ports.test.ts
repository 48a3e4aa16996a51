// Which ports are the gateway's own, as the configuration changes.
import assert from "node:assert/strict"
import { test } from "node:test"
import { configSchema } from "../config/index.ts"
import { createOwnPorts } from "./own-ports.ts"

test("knows the listeners that the configuration opens, and none that it does not", () => {
  let config = configSchema.parse({})
  let gateway = 18_789
  const ports = createOwnPorts(
    () => config,
    () => gateway,
  )
  assert.deepEqual(ports(), [18_789])
  gateway = 19_000
  config = configSchema.parse({
    hooks: { enabled: true, token: "t".repeat(32), gmail: { account: "a@b.example", serve: { port: 8_799 } } },
    channels: {
      chatapp: {
        accounts: {
          one: { botToken: "1:a", webhookUrl: "https://one.example/x" },
          two: { botToken: "2:b", webhookUrl: "https://two.example/x", webhookBind: "[::1]:8790" },
          three: { botToken: "3:c", webhookBind: "127.0.0.1:8791" },
        },
      },
    },
  })
  assert.deepEqual(new Set(ports()), new Set([19_000, 8_787, 8_790, 8_799]))
})
