import assert from "node:assert/strict"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import pino from "pino"
import { configSchema } from "../../config/index.ts"
import { createRedactor } from "../../kernel/index.ts"
import { createSettings } from "./settings.ts"
import { resolveToken } from "./token.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-token-"))
after(() => rmSync(folder, { recursive: true, force: true }))

const one = "1111111:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
const two = "2222222:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
const three = "3333333:CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC"
const warnings: string[] = []
const log = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) })
const redactor = createRedactor()

function resolve(
  chatapp: Record<string, unknown>,
  accountId = "default",
  environmentToken: string | undefined = three,
) {
  const config = configSchema.parse({ channels: { chatapp } })
  const settings = createSettings(() => config).account(accountId)
  return resolveToken({ settings, environmentToken, stateFolder: folder, redactor, log })
}

writeFileSync(join(folder, "token"), `\n ${one} \n`, { mode: 0o600 })

test("the file wins over the configuration, which wins over the environment", () => {
  assert.deepEqual(resolve({ tokenFile: "token", botToken: two }), { kind: "found", token: one, source: "tokenFile" })
  assert.deepEqual(resolve({ botToken: two }), { kind: "found", token: two, source: "config" })
  assert.deepEqual(resolve({}), { kind: "found", token: three, source: "env" })
  assert.deepEqual(resolve({}, "default", ""), { kind: "none" })
})

test("a named account has only what it names itself", () => {
  const chatapp = { botToken: one, tokenFile: "token", accounts: { work: { botToken: two }, bare: {} } }
  assert.deepEqual(resolve(chatapp, "work"), { kind: "found", token: two, source: "config" })
  assert.deepEqual(resolve(chatapp, "bare"), { kind: "none" })
})

test("a token file that cannot be used is an error and nothing else is tried", () => {
  mkdirSync(join(folder, "directory"))
  writeFileSync(join(folder, "empty"), "  \n", { mode: 0o600 })
  for (const tokenFile of ["missing", "directory", "empty"]) {
    const result = resolve({ tokenFile, botToken: two })
    assert.equal(result.kind, "error", tokenFile)
  }
})

test("a token file that others can read is used with a warning", () => {
  writeFileSync(join(folder, "loose"), two)
  chmodSync(join(folder, "loose"), 0o644)
  assert.equal(resolve({ tokenFile: "loose" }).kind, "found")
  assert.match(warnings.join(""), /token file readable by others/)
})

test("what does not look like a token is refused without being shown", () => {
  const result = resolve({ botToken: "not-a-token" })
  assert.equal(result.kind, "error")
  assert.ok(!JSON.stringify(result).includes("not-a-token"))
})

test("every token is taken out of texts from then on", () => {
  resolve({ botToken: two })
  assert.equal(redactor.redact(`https://host/bot${two}/getMe`), "https://host/bot***/getMe")
})
