import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { before, after, test } from "node:test"
import { build } from "esbuild"
import { readCommandTree, type CommandNode } from "./command-tree.ts"
import { createContext } from "./context.ts"
import { commandGroups } from "./groups.ts"
import { createOutput } from "./output.ts"
import { renderReference } from "./reference.ts"
import { runProgram, sourceProgram, startProgram } from "./testing/run-program.ts"
import { answerJson, startStandIn } from "./testing/stand-in-gateway.ts"

const root = join(import.meta.dirname, "..")
const context = createContext({ environment: {}, output: createOutput({}), programFile: sourceProgram })
let folder: string
let bundle: string

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-bundle-"))
  bundle = join(folder, "svc.cjs")
  // As scripts/build.mjs makes it.
  const options = { bundle: true, platform: "node", target: "node22.18", format: "cjs", minify: true } as const
  const files = { absWorkingDir: root, entryPoints: ["cli/main.ts"], outfile: bundle }
  await build({ ...options, ...files, logLevel: "error" })
})

after(() => rmSync(folder, { recursive: true, force: true }))

function walk(node: CommandNode): CommandNode[] {
  return [node, ...node.commands.flatMap(walk)]
}

test("the help of every command and group has a description and an example", async () => {
  const nodes = walk(await readCommandTree(context))
  assert.ok(nodes.length > 25)
  for (const { path, description, help, commands } of nodes) {
    // A group inside of a group shows its commands; each of them has its example.
    const nested = path.length > 1 && commands.length > 0
    if (!nested) assert.match(help, /\nExamples?:\n {2}\S/, `svc ${path.join(" ")}`)
    assert.notEqual(description, "", `svc ${path.join(" ")}`)
  }
})

test("every command that does something takes --json", async () => {
  const leaves = walk(await readCommandTree(context)).filter(({ commands }) => commands.length === 0)
  for (const { path, options } of leaves) {
    // The emulator has flags of its own.
    if (path[0] === "emulator") continue
    // It speaks a protocol of its own on its output.
    if (path.join(" ") === "mcp serve") continue
    const flags = options.flatMap((option) => option.flags)
    assert.ok(flags.includes("--json"), `svc ${path.join(" ")}`)
  }
})

test("the list of groups says the same as the groups themselves", async () => {
  const { commands } = await readCommandTree(context)
  assert.deepEqual(
    commands.map(({ path, description }) => [path[0], description]),
    commandGroups.map(({ name, description }) => [name, description]),
  )
})

test("docs/reference/cli.md is up to date", async () => {
  const written = readFileSync(join(root, "docs/reference/cli.md"), "utf8")
  assert.equal(written, await renderReference(context), "run: node scripts/generate-cli-docs.ts")
})

test("the bundle is one file, and prints version, help and errors as the source does", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
  const options = { program: bundle }
  assert.deepEqual(await runProgram(["--version"], options), { code: 0, stdout: `${version}\n`, stderr: "" })
  for (const words of [["--help"], ["help", "logs"], ["logs", "--limit", "x"], ["stattus"], ["pairing"], []]) {
    assert.deepEqual(await runProgram(words, options), await runProgram(words), words.join(" "))
  }
})

test("bad usage ends with 2, an error and a hint", async () => {
  const wrong = [
    ["stattus"],
    ["status", "--jsn"],
    ["help", "stattus"],
    ["help", "pairing", "aprove"],
    ["status", "more"],
    ["logs", "--limit", "-1"],
    ["logs", "--level", "loud"],
    ["gateway", "--port", "70000"],
    ["pairing", "approve", "chatapp"],
    ["completion", "tcsh"],
  ]
  for (const words of wrong) {
    const { code, stdout, stderr } = await runProgram(words, { program: bundle })
    assert.deepEqual([code, stdout], [2, ""], words.join(" "))
    assert.match(stderr, /^error: \S/, words.join(" "))
  }
  const { code, stdout, stderr } = await runProgram(["status", "--jsn", "--json"], { program: bundle })
  assert.deepEqual([code, stderr], [2, ""])
  assert.equal((JSON.parse(stdout) as { error: { code: string } }).error.code, "bad-request")
})

test("what is wrong with a command points to the help of that very command", async () => {
  const wrong: [string, RegExp][] = [
    ["pairing approve", /hint: see: svc pairing approve --help/],
    ["browser tab select", /hint: see: svc browser tab select --help/],
    ["outbox show x1", /hint: see: svc outbox show --help/],
    ["deliveries shwo 1", /hint: Did you mean show\? see: svc outbox --help/],
    ["runs list --stat dead", /hint: Did you mean --state\? see: svc runs list --help/],
    ["hooks show", /hint: see: svc hooks show --help/],
  ]
  for (const [words, hint] of wrong) {
    const { code, stderr } = await runProgram(words.split(" "), { program: bundle })
    assert.equal(code, 2, words)
    assert.match(stderr, hint, words)
  }
})

test("the version is said with the Node, and as JSON", async () => {
  const { stdout } = await runProgram(["version"], { program: bundle, environment: { SVC_STATE_DIR: folder } })
  assert.match(stdout, new RegExp(`^svc \\d+\\.\\d+\\.\\d+ \\(Node ${process.versions.node}, `))
  const json = await runProgram(["version", "--json"], { program: bundle, environment: { SVC_STATE_DIR: folder } })
  assert.equal((JSON.parse(json.stdout) as { node: string }).node, process.versions.node)
})

test("a group without a command prints its help and ends with 2", async () => {
  const { code, stdout, stderr } = await runProgram(["pairing"], { program: bundle })
  assert.deepEqual([code, stdout], [2, ""])
  assert.match(stderr, /Usage: svc pairing/)
  assert.match(stderr, /error: svc pairing needs a command/)
})

test("words that are also names of commands are told apart", async () => {
  const environment = { SVC_STATE_DIR: "/nonexistent" }
  const run = (words: string) => runProgram(words.split(" "), { program: bundle, environment })
  // A value that is a command's name, a default command, and a group's own option before the command.
  for (const words of ["runs --before 3", "events --session events", "browser tab", "browser --json tabs"]) {
    const { code, stdout, stderr } = await run(words)
    assert.equal(code, 1, `${words}: ${stdout}${stderr}`)
    assert.match(stdout + stderr, /No gateway is running/, words)
  }
  const wrong = await run("browser opne tabs")
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^error: unknown command 'opne'\nhint: Did you mean open\?/)
  const choice = await run("runs --state show")
  assert.equal(choice.code, 2)
  assert.match(choice.stderr, /^error: option '--state <state>' argument 'show' is invalid/)
})

test("an old Node is told so in plain words", async () => {
  const preload = join(folder, "old-node.cjs")
  writeFileSync(
    preload,
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } })',
  )
  const result = await runProgram(["status"], { program: bundle, nodeOptions: ["-r", preload] })
  assert.equal(result.code, 1)
  assert.match(result.stderr, /^error: svc needs Node 22\.18 or newer, but this is Node 20\.19\.0 .*\nhint: /)
})

test("the gateway runs in this process, with the flags, and its exit code is ours", async () => {
  writeFileSync(
    join(folder, "gateway.mjs"),
    `export async function runGateway(options) {
       process.stdout.write(JSON.stringify({ pid: process.pid, options }) + "\\n")
       setInterval(() => undefined, 1000)
       return 7
     }`,
  )
  const words = "gateway --port 4000 --state-dir s --config c.json --quiet --log-level debug".split(" ")
  const running = startProgram(words, { program: bundle })
  const result = await running.ended
  assert.equal(result.code, 7)
  assert.deepEqual(JSON.parse(result.stdout), {
    pid: running.child.pid,
    options: {
      program: realpathSync(bundle),
      stateDir: "s",
      configPath: "c.json",
      port: 4000,
      quiet: true,
      logLevel: "debug",
    },
  })
})

test("an error that the gateway's own bundle throws is printed with its hint", async () => {
  writeFileSync(
    join(folder, "gateway.mjs"),
    `class AppError extends Error { name = "AppError"; code = "port-in-use"; hint = "take another" }
     export async function runGateway() { throw new AppError("port 1 is taken") }`,
  )
  const result = await runProgram(["gateway"], { program: bundle })
  assert.deepEqual(result, { code: 1, stdout: "", stderr: "error: port 1 is taken\nhint: take another\n" })
})

test("the emulator gets its flags and the signals, and its exit code is ours", async () => {
  writeFileSync(
    join(folder, "emulator.mjs"),
    `process.on("SIGTERM", () => { console.log("tidying"); process.exit(3) })
     setInterval(() => undefined, 1000)
     console.log(JSON.stringify(process.argv.slice(2)))`,
  )
  const running = startProgram(["emulator", "--port", "1", "--flood", "x", "--json"], { program: bundle })
  await running.printed('["--port","1","--flood","x","--json"]')
  running.child.kill("SIGTERM")
  const { code, stdout } = await running.ended
  assert.deepEqual([code, stdout.split("\n")[1]], [3, "tidying"])
})

test("the emulator explains its flags itself, and says what to do where another one runs", async (t) => {
  const help = await runProgram(["emulator", "--help"])
  assert.equal(help.code, 0)
  assert.match(help.stdout, /--control-token <text>/)
  const other = createServer().listen(0, "127.0.0.1")
  t.after(() => other.close())
  await once(other, "listening")
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await runProgram(["emulator", "--port", String(port)])
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`^error: .*port ${port} is in use, .*\nhint: .* pass --port 0`))
  const asJson = await runProgram(["emulator", "--port", String(port), "--json"])
  const { ok, error } = JSON.parse(asJson.stdout) as { ok: boolean; error: { code: string } }
  assert.deepEqual([asJson.code, asJson.stderr, ok, error.code], [1, "", false, "port-in-use"])
})

test("advice names the program as whoever reads it can call it, also what is no error", async (t) => {
  const answers: Record<string, unknown> = {
    "/api/schedules/morning/run": { ok: true, id: "8f3a61c2", runId: "r1" },
    "/api/pairing/chatapp/approve": { ok: true, senderId: "42", sharesWith: 1 },
    "/api/heartbeat/now": { ok: true, agent: "main", runId: "r1" },
    "/extension": { path: null, paired: false, codeWaits: false, port: 1, connected: false, tabs: [] },
    "/api/mcp/servers/search": { name: "search", items: [{ name: "find", state: "new", description: "" }] },
  }
  const gateway = await startStandIn((request, response) => answerJson(answers[request.path])(request, response))
  t.after(() => gateway.stop())
  // The bundle stands in no clone, and is called as `npx svc-gateway` calls it.
  const environment = { ...gateway.environment, npm_command: "exec" }
  const say = async (...words: string[]) => (await runProgram(words, { program: bundle, environment })).stdout
  assert.match(await say("cron", "run", "morning"), /look with: npx svc-gateway runs show r1$/m)
  assert.match(await say("pairing", "approve", "chatapp", "AB3DEF7H"), /: npx svc-gateway config set session/)
  assert.match(await say("heartbeat", "now"), /: npx svc-gateway runs show r1$/m)
  assert.match(await say("browser", "extension", "status"), /: no: npx svc-gateway browser extension install$/m)
  assert.match(await say("mcp", "servers", "search"), /: npx svc-gateway mcp accept search$/m)
})

test("advice that ends with a command gives it the arguments that it needs", async () => {
  const leaves = walk(await readCommandTree(context)).filter(({ commands }) => commands.length === 0)
  const needy = leaves.filter(({ help }) => /^Usage: svc .*<\w+>/.test(help)).map(({ path }) => path.join(" "))
  assert.ok(needy.includes("pairing list"))
  const ended = new RegExp(`(?<![\\w/.-])svc (?:${needy.join("|")})(?:["'\`;:,.)]|$)`)
  const sources = globSync("{src,cli}/**/*.ts", { cwd: root }).filter((path) => !/\.test\.ts$|\/testing\//.test(path))
  const lacking = sources.flatMap((path) =>
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line) && ended.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  assert.deepEqual(lacking, [])
})

test("names what is missing of an installation", async () => {
  const { code, stderr } = await runProgram(["config", "path"], { program: bundle })
  assert.equal(code, 1)
  assert.match(stderr, /config-commands\.mjs/)
})

test("the completion scripts parse, and bash offers commands, options and values", async (t) => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout, code } = await runProgram(["completion", shell])
    assert.equal(code, 0)
    const parsed = spawnSync(shell, ["-n"], { input: stdout, encoding: "utf8" })
    if ((parsed.error as NodeJS.ErrnoException | undefined)?.code === "ENOENT")
      t.diagnostic(`${shell} is not installed`)
    else assert.deepEqual([parsed.status, parsed.stderr], [0, ""], shell)
    if (shell !== "bash") continue
    const complete = (words: string) =>
      spawnSync(
        "bash",
        [
          "-c",
          `${stdout}\nCOMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc; echo "\${COMPREPLY[*]}"`,
        ],
        {
          encoding: "utf8",
        },
      ).stdout.trim()
    assert.equal(complete("svc st"), "status stop")
    assert.equal(complete("svc pairing ap"), "approve")
    assert.equal(complete("svc logs --fol"), "--follow")
    assert.equal(complete("svc logs --level wa"), "warn")
  }
})
