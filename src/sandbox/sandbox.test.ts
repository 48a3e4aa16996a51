// The sandbox as it runs: what a command inside can and cannot reach, its limits, and the tools of the workspace.
import assert from "node:assert/strict"
import { type StdioOptions, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, createServer as createSocketServer } from "node:net"
import { dirname, join } from "node:path"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { after, before, describe, test } from "node:test"
import { AppError } from "../kernel/index.ts"
import { createCommands } from "./commands.ts"
import type { Sandbox } from "./sandbox.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"
import { type SandboxBench, sandboxProblem, startSandboxBench, textOf } from "../../test/support/sandbox.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"

const skip = await sandboxProblem("exec")
let bench: SandboxBench
before(() => void (bench = startSandboxBench({ tools: "all", exec: { memoryMb: 128, maxTasks: 24, maxOutputKb: 4 } })))
after(() => bench.sandbox.stop())

const exec = async (command: string, more = {}) => textOf(await bench.use("exec", { command, ...more }))

describe("a command in the sandbox", { skip }, () => {
  test("works in the agent's folder, as nobody of the host's, with nothing of the host's", async () => {
    const secret = `secret-${randomUUID()}`
    const folder = temporaryFolder()
    writeFileSync(join(folder, "gateway-token"), secret)
    writeFileSync(join(bench.stateFolder, "svc.json"), secret)
    const listener = createServer((_request, response) => response.end(secret)).listen(0, "127.0.0.1")
    const local = createSocketServer((socket) => socket.end(secret)).listen(join(folder, "own.sock"))
    try {
      await once(listener, "listening")
      const { port } = listener.address() as AddressInfo
      const tries = [
        `cat ${folder}/gateway-token ${bench.stateFolder}/svc.json ${import.meta.filename}`,
        "cat /etc/shadow /root/.bashrc /home/*/.ssh/*; ls /sys /root /var /home",
        `cat < /dev/tcp/127.0.0.1/${port}`,
        `perl -MIO::Socket::INET -e 'print "in" if IO::Socket::INET->new("127.0.0.1:${port}")'`,
        `perl -MIO::Socket::INET -e 'print "in" if IO::Socket::INET->new(PeerAddr => "169.254.169.254:80", Timeout => 2)'`,
        `perl -MIO::Socket::UNIX -e 'print "in" if IO::Socket::UNIX->new("${folder}/own.sock")'`,
        `kill -0 ${process.pid} && echo in; ls /proc | grep -c '^${process.pid}$' | grep -v '^0$'`,
        "mount -t tmpfs none /mnt && echo in; touch /usr/in && echo in; chroot / true && echo in",
      ]
      const said = await exec(tries.map((line) => `bash -c '${line.replaceAll("'", `'"'"'`)}'`).join("; "))
      assert.doesNotMatch(said, /secret-|^in$|root:x/m)
      const facts = await exec(
        "id -u; grep CapEff /proc/self/status; pwd; cat /sys/class/net/*/address; (env; tr '\\\\0' '\\\\n' < /proc/1/environ) | cut -d= -f1",
      )
      assert.match(facts, /^1000\nCapEff:\s0{16}\n\/work\n/)
      for (const name of Object.keys(process.env).filter(
        (each) => !/^(HOME|PATH|LANG|USER|PWD|TERM|TMPDIR|SHLVL|_|OLDPWD)$/.test(each),
      )) {
        assert.doesNotMatch(facts, new RegExp(`^${name}$`, "m"))
      }
    } finally {
      listener.close()
      local.close()
    }
  })

  test("leaves nothing but its files: no process outlives it, and no folder but its own keeps what it wrote", async () => {
    const marker = `marker-${randomUUID()}`
    const before = processesWith(marker)
    await exec(
      `setsid sh -c 'exec -a ${marker} sleep 300' & (trap "" TERM HUP; sh -c 'sleep 300; echo ${marker}') & echo kept > kept.txt; echo gone > /tmp/gone`,
    )
    assert.deepEqual(processesWith(marker), before)
    assert.equal(await exec("cat kept.txt; ls /tmp"), "kept")
    assert.deepEqual(bench.sandbox.list(), [])
  })

  test("is given no file that the gateway was started with", async () => {
    const file = join(temporaryFolder(), "left-open")
    writeFileSync(file, "words that were left open")
    const left = openSync(file, "r")
    const bench = JSON.stringify(new URL("../../test/support/sandbox.ts", import.meta.url).href)
    const program = `const { startSandboxBench, textOf } = await import(${bench})
      const bench = startSandboxBench()
      const command = "ls -l /proc/self/fd; perl -e 'open F, \\"<&=40\\"; print <F>'"
      console.log(textOf(await bench.use("exec", { command })))
      await bench.sandbox.stop()`
    const stdio = Array.from({ length: 41 }, (_, handle) => (handle < 3 ? "pipe" : handle === 40 ? left : "ignore"))
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: stdio as StdioOptions })
    const output = child.stdout as Readable
    const [said] = await Promise.all([text(output), once(child, "close")])
    closeSync(left)
    assert.match(said, / 40 -> \/dev\/null/)
    assert.doesNotMatch(said, /left/)
  })

  test("is ended at its limits of time, memory, tasks and output, and with its turn", async () => {
    const note = async (command: string, more = {}) => (await bench.use("exec", { command, ...more })).note ?? ""
    assert.match(await note("sleep 60 & sleep 60", { timeout: 1 }), /time limit/)
    assert.match(await note("yes"), /wrote without end/)
    const said = await exec("seq 1 2000")
    assert.match(said, /^1\n2\n[^]*\[\.\.\. \d+ bytes left out \.\.\.\][^]*2000$/)
    assert.ok(said.length < 5_000)
    const { limiter } = await bench.sandbox.probe(bench.settings("main"))
    if (limiter !== "none") {
      const hungry = `perl -e '$x = "a" x (1024 * 1024 * 200)'; echo "code $?"`
      assert.match(await exec(hungry), /code (?!0)\d+/)
    }
    if (limiter === "cgroup" || limiter === "systemd") {
      assert.match(await exec("for i in $(seq 40); do sleep 2 & done; wait", { timeout: 2 }), /fork|Resource/i)
    }
    const turn = new AbortController()
    const running = bench.use("exec", { command: "sleep 60" }, { signal: turn.signal })
    while (bench.sandbox.list().length === 0) await new Promise((resolve) => setImmediate(resolve))
    const [{ pid = 0 } = {}] = bench.sandbox.list()
    turn.abort(new AppError("aborted", "The turn was stopped"))
    await assert.rejects(running, { code: "aborted" })
    assert.ok(!isProcessAlive(pid))
  })

  test("is ended when its turn was stopped while it was being started", async () => {
    const turn = new AbortController()
    const { sandbox, workspaces, settings } = bench
    const start: typeof sandbox.start = async (spec, own) => {
      const box = await sandbox.start(spec, own)
      turn.abort(new AppError("aborted", "The turn was stopped"))
      return box
    }
    const run = createCommands({ sandbox: { start } as Sandbox, workspaces, settings, proxySocket: async () => "" })
    const asker = { agentId: "main", sessionKey: "agent:main:main", trusted: true }
    const { signal } = turn
    await assert.rejects(run(asker, { argv: ["sleep", "300"], signal }), { code: "aborted" })
    assert.deepEqual(sandbox.list(), [])
  })
})

describe("the workspace", { skip }, () => {
  test("is written, read, changed and listed, and gives a file to the reply", async () => {
    await bench.use("write", { path: "notes/a.txt", content: "one\ntwo\nthree\n" })
    assert.equal(textOf(await bench.use("read", { path: "notes/a.txt", offset: 2, limit: 1 })), "two")
    await bench.use("edit", { path: "/work/notes/a.txt", old: "two", new: "2" })
    assert.match(textOf(await bench.use("list", {})), /^notes\/\nnotes\/a\.txt 12$/m)
    assert.equal(readFileSync(join(bench.workspace, "work", "notes", "a.txt"), "utf8"), "one\n2\nthree\n")
    const sent = (await bench.use("read", { path: "notes/a.txt", send: true })).note ?? ""
    const path = /^MEDIA:(\S+)$/m.exec(sent)?.[1] as string
    assert.ok(path.startsWith(join(bench.stateFolder, "media", "sandbox")))
    assert.equal(readFileSync(path, "utf8"), "one\n2\nthree\n")
    for (const [input, code] of [
      [{ path: "nothing.txt" }, "not-found"],
      [{ path: "notes" }, "bad-request"],
      [{ path: "/dev/zero" }, "bad-request"],
    ] as const) {
      await assert.rejects(bench.use("read", input), { code })
    }
    await assert.rejects(bench.use("edit", { path: "notes/a.txt", old: "four", new: "" }), { code: "not-found" })
    await assert.rejects(bench.use("write", { path: "/usr/lib/x", content: "" }), { code: "forbidden" })
  })

  test("is there although a skill in it is a link that leads nowhere", async () => {
    const own = startSandboxBench()
    const skills = join(own.workspace, "skills")
    mkdirSync(join(skills, "kept"), { recursive: true })
    writeFileSync(join(skills, "kept", "run.sh"), "echo run")
    symlinkSync("moved-away", join(skills, "gone"))
    assert.equal(textOf(await own.use("exec", { command: "ls /skills; sh /skills/kept/run.sh" })), "kept\nrun")
    await own.sandbox.stop()
  })

  test("leaves what is no UTF-8 as it is when something beside it is changed", async () => {
    const file = join(bench.workspace, "work", "old.csv")
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, Buffer.from("caf\u00e9;12\nna\u00efve;\u00b5\n", "latin1"))
    await bench.use("edit", { path: "old.csv", old: ";12", new: ";13 \u20ac" })
    assert.deepEqual(
      readFileSync(file),
      Buffer.concat([
        Buffer.from("caf\u00e9", "latin1"),
        Buffer.from(";13 \u20ac"),
        Buffer.from("\nna\u00efve;\u00b5\n", "latin1"),
      ]),
    )
  })

  test("follows no link out of the sandbox, neither for a read nor for what is sent", async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, "private"), "private words")
    symlinkSync(folder, join(bench.workspace, "work", "out"))
    for (const path of ["out/private", "../HEARTBEAT.md", "/work/../etc/shadow"]) {
      await assert.rejects(bench.use("read", { path }), { code: "not-found" })
      await assert.rejects(bench.use("read", { path, send: true }), { code: "not-found" })
    }
    await assert.rejects(bench.use("write", { path: "out/new", content: "x" }), { code: "forbidden" })
    assert.ok(!existsSync(join(folder, "new")))
  })

  test("shows skills' scripts to be run, and neither them nor its owner's files to anybody else's session", async () => {
    mkdirSync(join(bench.workspace, "skills", "count"), { recursive: true })
    writeFileSync(join(bench.workspace, "skills", "count", "count.sh"), "ls /work | wc -l\n")
    writeFileSync(join(bench.workspace, "HEARTBEAT.md"), "Instructions")
    assert.match(await exec("sh /skills/count/count.sh; touch /skills/count/x 2>&1; ls /work/.."), /^\d+\n.*Read-only/)
    const guest = { trusted: false, sessionKey: "agent:main:chatapp:dm:7" }
    const other = { trusted: false, sessionKey: "agent:main:chatapp:dm:8" }
    await bench.use("write", { path: "mine.txt", content: "words of one" }, guest)
    const seen = textOf(
      await bench.use(
        "exec",
        {
          command:
            "find /work /skills /tmp /home /run /mnt /var -name mine.txt -o -name kept.txt -o -name count.sh 2>/dev/null",
        },
        other,
      ),
    )
    assert.equal(seen, "")
    bench.sessions.set(guest.sessionKey, "another")
    assert.ok(bench.workspaces.sweep() >= 1)
    assert.equal(textOf(await bench.use("list", {}, guest)), "(empty)")
  })

  test("gives a command a network only where it is allowed, and to words of others only after a question", async () => {
    const ask = (more = {}) => bench.use("exec", { command: "true", network: true }, more)
    await assert.rejects(ask(), { code: "forbidden", message: /no network here/ })
    bench.configure({ tools: "all", exec: { network: true } })
    try {
      await assert.rejects(ask({ tainted: true }), /^Error: asks: The command would have a network/)
      await assert.rejects(ask({ trusted: false, tainted: true }), { code: "forbidden" })
      await bench.use("exec", { command: "true" }, { tainted: true })
    } finally {
      bench.configure({ tools: "all" })
    }
  })

  test("lets a command with a network begin when its way out is there", async () => {
    const proxy = createServer((request, response) => response.end(`through the proxy to ${request.url}`))
    const socket = join(temporaryFolder(), "proxy.sock")
    proxy.listen(socket)
    await once(proxy, "listening")
    const own = startSandboxBench({ tools: "all", exec: { network: true } }, { proxySocket: async () => socket })
    try {
      const fetched = await own.use("exec", { command: "curl -s http://page.example/", network: true })
      assert.equal(textOf(fetched), "through the proxy to http://page.example/")
    } finally {
      await own.sandbox.stop()
      proxy.close()
    }
  })
})

describe("a workspace with files that words of others may have made", () => {
  const network = { command: "true", network: true }
  const asks = /^Error: asks: .*words of others may have made files of the workspace/
  let own: SandboxBench
  before(() => void (own = startSandboxBench({ tools: "all", exec: { network: true } })))
  after(() => own.sandbox.stop())
  /** What the gate lets through fails at the proxy, which is not there. */
  const free = /no proxy in this test/
  /** Where no sandbox can be had the call itself fails, after it was noted. */
  const tried = (name: string, input: object, more: object) => own.use(name, input, more).catch(() => undefined)

  const deeds: [string, string, object, object][] = [
    ["a tainted write", "write", { path: "run.sh", content: "curl" }, { tainted: true }],
    ["a tainted command", "exec", { command: "echo curl >run.sh" }, { tainted: true }],
    ["a command with a network", "exec", { command: "true", network: true }, {}],
  ]
  for (const [name, tool, input, more] of deeds) {
    test(`asks before a command with a network in every turn after ${name}, until it is empty`, async () => {
      const work = own.workspaces.folder({ agentId: "main", sessionKey: "agent:main:main", trusted: true })
      const mark = join(own.workspace, "work.foreign")
      const look = () => rmSync(mark, { force: true })
      writeFileSync(join(work, "of-the-owner.txt"), "mine")
      look()
      await assert.rejects(own.use("exec", network), free)
      look()
      await own.use("read", { path: "of-the-owner.txt" }, { tainted: true }).catch(() => undefined)
      assert.equal(existsSync(mark), false)
      await tried(tool, input, more)
      await assert.rejects(own.use("exec", network), asks)
      await assert.rejects(own.use("exec", network, { sessionKey: "agent:main:other" }), asks)
      assert.match(readFileSync(mark, "utf8"), /words of others/)
      for (const file of readdirSync(work)) rmSync(join(work, file))
      await assert.rejects(own.use("exec", network), free)
    })
  }
})

test("asks before a command with a network while a file may still be made, though there is none yet", async () => {
  const own = startSandboxBench({ exec: { network: true } })
  const asker = { agentId: "main", sessionKey: "agent:main:main", trusted: true }
  const begun = Promise.withResolvers<void>()
  const making = Promise.withResolvers<void>()
  const work = own.workspaces.folder(asker)
  const made = own.workspaces.makeForeign(asker, async () => {
    begun.resolve()
    await making.promise
    writeFileSync(join(work, "late.sh"), "curl")
  })
  await begun.promise
  assert.equal(own.workspaces.hasForeign(asker), true)
  // Agents without a workspace of their own work in the same folder.
  assert.equal(own.workspaces.hasForeign({ ...asker, agentId: "other" }), true)
  making.resolve()
  await made
  assert.equal(own.workspaces.hasForeign(asker), true)
  rmSync(join(work, "late.sh"))
  assert.equal(own.workspaces.hasForeign(asker), false)
  await own.sandbox.stop()
})

function processesWith(marker: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(marker)
      } catch {
        return false
      }
    })
}
