import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { loadConfigOrThrow } from "../load.ts"
import { configSchema } from "../schema.ts"
import { planConfigChanges, writeConfigChanges } from "../write-back.ts"
import { diffLines } from "./diff.ts"
import { isFormPath, listFields, listSections } from "./fields.ts"

function open(text: string, env: Record<string, string> = {}) {
  const path = join(temporaryFolder(), "svc.json")
  writeFileSync(path, text)
  return { path, env, snapshot: loadConfigOrThrow({ path, env }) }
}

const marks = { same: " ", gone: "-", new: "+", skipped: "…" }
const diff = (before: string, after: string) =>
  diffLines(before.replaceAll(" ", "\n"), after.replaceAll(" ", "\n")).map(({ kind, text }) => marks[kind] + text)

test("a difference is the shortest one, with two lines around it", () => {
  assert.deepEqual(diff("a b c", "a b c"), [])
  assert.deepEqual(diff("a b c d e f g h", "a b c d X f g h"), ["…", " c", " d", "-e", "+X", " f", " g", "…"])
  assert.deepEqual(diff("", "a b"), ["-", "+a", "+b"])
  assert.deepEqual(diff("a b c a b b a", "c b a b a c"), ["-a", "-b", " c", "+b", " a", " b", "-b", " a", "+c"])
  // Lines that repeat, as closing brackets do, are told one by one.
  assert.deepEqual(diff("} } a", "} } } a"), [" }", " }", "+}", " a"])
  assert.deepEqual(diff("x x x x", "x x"), [" x", " x", "-x", "-x"])
  const long = Array.from({ length: 3_000 }, (_, index) => `${index}`)
  const other = long.map((line) => `x${line}`)
  assert.equal(diff(long.join(" "), other.join(" ")).length, 6_000)
})

test("every section has fields, and none of them a secret", () => {
  const { snapshot } = open(
    `{ gateway: { auth: { token: "a-long-secret-of-the-gateway-1" } }, env: { vars: { PASSWORD: "hush-hush-hush" } },
       channels: { chatapp: { botToken: "12345:abcdef", groups: { "-100": { requireMention: false } } } },
       hooks: { enabled: true, token: "\${HOOKS}", mappings: [{ match: { path: "x" }, verify: { scheme: "github", secret: "sh-signature-secret" } }] } }`,
    { HOOKS: "another-secret-of-the-hooks-0123" },
  )
  const sections = listSections(snapshot)
  assert.deepEqual(
    sections.map(({ name }) => name),
    Object.keys(configSchema.shape),
  )
  const fields = sections.flatMap(({ name }) => listFields(snapshot, name))
  assert.ok(fields.length > 200)
  for (const secret of ["a-long-secret", "hush-hush", "12345:abcdef", "another-secret", "sh-signature"])
    assert.ok(!JSON.stringify(fields).includes(secret), secret)
  const writtenIn = Object.fromEntries(sections.map(({ name, written }) => [name, written]))
  const { gateway, env, channels, hooks, browser } = writtenIn
  assert.deepEqual(
    { gateway, env, channels, hooks, browser },
    { gateway: 1, env: 1, channels: 2, hooks: 3, browser: 0 },
  )
  // A default that is text stands as it is written in a form, others as in the file.
  const shown = Object.fromEntries(fields.map(({ key, default: text }) => [key, text]))
  assert.equal(shown["gateway.reload.mode"], "hybrid")
  assert.equal(shown["hooks.enabled"], "false")
  const mention = fields.find(({ key }) => key === 'channels.chatapp.groups["-100"].requireMention')
  assert.deepEqual([mention?.kind, mention?.written, mention?.place?.line], ["choice", false, 2])
  assert.equal(fields.find(({ key }) => key === "channels.chatapp.botToken")?.guarded, "secret")
  assert.equal(fields.find(({ key }) => key === "gateway.port")?.guarded, "guarded")
  const kindOf = (key: string) => fields.find((field) => field.key === key)?.kind
  const kinds = {
    "agents.defaults.heartbeat.every": "text",
    "agents.defaults.model": "json",
    "messages.responsePrefix": "text",
    "agents.defaults.timeoutSeconds": "number",
    "channels.chatapp.allowFrom": "list",
    "hooks.mappings": "json",
    "channels.chatapp.groups": "map",
  }
  assert.deepEqual(Object.fromEntries(Object.keys(kinds).map((key) => [key, kindOf(key)])), kinds)
  const choices = (key: string) => fields.find((field) => field.key === key)?.choices
  assert.deepEqual(choices("gateway.reload.mode"), ["hybrid", "hot", "restart", "off"])
  assert.deepEqual(choices("hooks.enabled"), [true, false])
  assert.deepEqual(choices("browser.headless"), [true, false, "auto"])
  assert.deepEqual(listFields(snapshot, "nothing"), [])
  const guarded = fields.filter((field) => field.kind === "map" && field.guarded === "guarded").map(({ key }) => key)
  assert.ok(guarded.includes("models.providers") && guarded.includes("mcp.servers"), String(guarded))
  assert.ok(!guarded.includes("channels.chatapp.groups"))
})

test("an entry of a map that is to be made has its fields before it is there", () => {
  const { snapshot } = open("{}")
  const keys = (entry?: string[]) =>
    listFields(snapshot, "channels", entry).filter(({ key }) => key.startsWith('channels.chatapp.groups["-7"]')).length
  assert.equal(keys(), 0)
  assert.ok(keys(["channels", "chatapp", "groups", "-7"]) > 3)
  assert.equal(keys(["channels", "chatapp", "dms", "-7"]), 0)
})

test("a form writes known keys alone, and none that guard the door", () => {
  assert.equal(isFormPath(["messages", "responsePrefix"]), true)
  for (const path of [
    ["channels", "chatapp", "allowFrom"],
    ["hooks", "token"],
    ["nothing"],
    ["gateway", "port"],
    ["channels"],
  ])
    assert.equal(isFormPath(path), false, path.join("."))
})

test("changes of several keys are planned and written together, or refused together", () => {
  const { path, env } = open('{\n  // mine\n  logging: { level: "debug" }, // loud\n}\n')
  const changes = [
    { key: ["logging", "level"] },
    { key: ["approvals", "validMinutes"], value: 7 },
    { key: ["messages", "responsePrefix"], value: "[x]" },
  ]
  const plan = planConfigChanges({ path, env, changes })
  assert.ok(plan.kind === "ok")
  const [file] = plan.files
  assert.match(file?.after ?? "", /\/\/ mine[^]*validMinutes: 7[^]*responsePrefix: "\[x\]"/)
  assert.doesNotMatch(file?.after ?? "", /debug/)
  assert.throws(() => writeConfigChanges({ path, env, changes, isWanted: () => false }), { code: "conflict" })
  const done = writeConfigChanges({ path, env, changes, isWanted: ([given]) => given?.after === file?.after })
  assert.equal(done.kind, "ok")
  assert.equal(loadConfigOrThrow({ path, env }).config.approvals.validMinutes, 7)
  const wrong = planConfigChanges({ path, env, changes: [{ key: ["approvals", "validMinutes"], value: "soon" }] })
  assert.deepEqual(wrong.kind === "invalid" && wrong.issues.map(({ path: key }) => key), ["approvals.validMinutes"])
})
