import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import { Command } from "commander"
import { AppError } from "../kernel/index.ts"
import { registerHooksCommands } from "./cli.ts"
import { startHooks } from "./hooks.fixture.ts"

const folder = mkdtempSync(join(tmpdir(), "hooks-cli-"))
const mapping = { id: "m", match: { path: "m" }, messageTemplate: "two\nlines {{x}} {{headers.x-kind}}" }
const server = await startHooks({}, { mappings: [mapping] })
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** Smaller than what is asked for, so that a few deliveries fill more than one page. */
const pageLimit = 2

/** Runs one command against the real deliveries, as the gateway's API would hand them on. */
async function svc(...words: string[]): Promise<string> {
  const printed: string[] = []
  const program = new Command().exitOverride()
  const { deliveries } = server.hooks
  registerHooksCommands(program, {
    async call(method, path, { query, body }) {
      await server.background.idle()
      if (path === "/api/hooks") {
        return deliveries.list({
          limit: Math.min(Number(query?.["limit"] ?? 50), pageLimit),
          before: query?.["before"] as number | undefined,
          mapping: query?.["mapping"] as string | undefined,
        })
      }
      if (path === "/api/hooks/test") return await deliveries.test(body as Parameters<typeof deliveries.test>[0])
      const id = Number(path.split("/")[3])
      return method === "GET" ? deliveries.read(id) : await deliveries.replay(id)
    },
    print: (text) => void printed.push(text),
    named: (advice) => advice,
    printJson: (value) => void printed.push(JSON.stringify(value)),
    table: (headings, rows) => [headings, ...rows].map((row) => row.map((cell) => cell ?? "-").join(" ")).join("\n"),
    time: () => "then",
    readFile: (path) => (path === file ? JSON.stringify({ x: 1 }) : assert.fail(path)),
    async follow(look) {
      for (const text of ["", "one", "two", "three"]) {
        if (text !== "") await server.post("/hooks/wake", { text, mode: "next-heartbeat" })
        if (text !== "one" && text !== "two") await look()
      }
    },
    addOptions: () => undefined,
  })
  await program.parseAsync(["node", "svc", "hooks", ...words])
  return printed.join("\n")
}

const file = join(folder, "payload.json")
writeFileSync(file, "{}")

test("shows what a payload would do, and then does it", async () => {
  const plan = await svc("test", "m", "--file", file, "--header", "X-Kind: odd", "--dry-run")
  assert.match(plan, /^mapping m: 1 action\n {2}kind: agent/)
  assert.match(plan, /message:\n {4}two\n {4}lines 1 odd/)
  assert.match(plan, /"chatId":"42"/)
  assert.equal(server.rows("select * from job").length, 0)
  assert.match(await svc("test", "m", "--file", file), /^202 \{"ok":true,"runId"/)
  assert.equal(server.rows("select * from job").length, 1)
  await assert.rejects(svc("test", "m", "--file", file, "--header", "nonsense"), AppError)
})

test("lists, shows and replays deliveries", async () => {
  await server.post("/hooks/wake", {})
  const list = await svc("list")
  assert.match(list, /then wake wake refused 400 -/)
  assert.match(list, /then m m accepted 202 [0-9a-f-]{36}/)
  assert.match(list, /turned away since the start: bad-request 1/)
  const id = String(server.rows("select id from hook_delivery where mapping = 'm'")[0]?.id)
  assert.match(await svc("show", id), /Request POST m\n[^]*Body\n {2}\{"x":1\}/)
  assert.match(await svc("replay", id), /was done once more: 202/)
  assert.equal(JSON.parse(await svc("list", "--mapping", "m", "--json")).items.length, 2)
  await assert.rejects(svc("show", "x"), AppError)
})

test("follows deliveries as they come, however many at once", async () => {
  const before = server.rows("select max(id) as id from hook_delivery")[0]?.id as number
  const lines = (await svc("tail")).split("\n")
  assert.deepEqual(
    lines.map((line) => line.replace(/accepted.*/, "accepted")),
    [1, 2, 3].map((count) => `${before + count}  then  wake  wake  accepted`),
  )
})
