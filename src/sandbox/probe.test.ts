// What is said of a machine on which the sandbox does not work, and what an engine is asked to run.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, test } from "node:test"
import { agentsSchema } from "../agent/config.ts"
import { type JsonObject, parseJson } from "../kernel/index.ts"
import type { BoxSpec } from "./contract.ts"
import { dockerArguments } from "./docker.ts"
import type { Look } from "./look.ts"
import { type MachineFacts, thisMachine } from "./mend.ts"
import { probeBubblewrap, probeDocker } from "./probe.ts"
import { isSandboxed, modeOf, settingsFor } from "./settings.ts"

const machine = (files: Record<string, string>, platform: NodeJS.Platform = "linux"): MachineFacts => ({
  platform,
  read: (path) => files[path],
})
const probe = (facts: MachineFacts, look: Look) =>
  probeBubblewrap({ look, machine: facts, limiter: { kind: "none" }, bubblewrap: ({ argv }) => ["--", ...argv] })
const missing: Look = async () => ({ code: undefined, text: "there is no such program" })
const refused: Look = async (_program, [word]) =>
  word === "--version"
    ? { code: 0, text: "bubblewrap 0.9.0" }
    : { code: 1, text: "bwrap: setting up uid map: Permission denied" }
const notNested: Look = async (_program, words) =>
  words.includes("--unshare-all")
    ? { code: 1, text: "bwrap: No permissions to create new namespace" }
    : { code: 0, text: "bubblewrap 0.9.0" }

describe("a machine without a sandbox", () => {
  for (const [name, facts, look, command] of [
    [
      "Debian without bwrap",
      machine({ "/etc/os-release": "ID=debian\n" }),
      missing,
      /^sudo apt-get install bubblewrap$/,
    ],
    ["Fedora without bwrap", machine({ "/etc/os-release": "ID=fedora\n" }), missing, /^sudo dnf install bubblewrap$/],
    [
      "Ubuntu with AppArmor",
      machine({ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" }),
      refused,
      /apparmor_parser -r/,
    ],
    [
      "no user namespaces",
      machine({ "/proc/sys/user/max_user_namespaces": "0\n" }),
      refused,
      /^sudo sysctl -w user\.max_user_namespaces/,
    ],
    [
      "root's namespaces only",
      machine({ "/proc/sys/kernel/unprivileged_userns_clone": "0" }),
      refused,
      /unprivileged_userns_clone=1$/,
    ],
    ["a container", machine({ "/.dockerenv": "" }), refused, /--security-opt/],
    ["another system", machine({}, "darwin"), missing, /backend docker$/],
  ] as const) {
    test(`is told how to mend it: ${name}`, async () => {
      const { exec, browser } = await probe(facts, look)
      assert.equal(exec?.code, "sandbox-unavailable")
      assert.match(exec?.hint ?? "", command)
      assert.equal(browser?.hint, exec?.hint)
    })
  }

  test("runs commands where only a browser's own sandbox cannot be had inside", async () => {
    const { exec, browser } = await probe(machine({}), notNested)
    assert.equal(exec, undefined)
    assert.match(browser?.message ?? "", /inside another one/)
  })

  test("sandboxes nobody unless it was asked for, and then all the same", () => {
    const broken = { browser: {} as never }
    assert.equal(modeOf({}, broken), "off")
    assert.equal(modeOf({}, {}), "untrusted")
    assert.equal(modeOf({ mode: "untrusted" }, broken), "untrusted")
    assert.deepEqual(
      [true, false].map((trusted) => isSandboxed("untrusted", { trusted })),
      [false, true],
    )
  })
})

test("an agent's own keys stand over those of all, one by one", () => {
  const agents = agentsSchema.parse({
    defaults: { sandbox: { mode: "all", exec: { network: true, timeoutSeconds: 9 } } },
    list: [{ id: "a", sandbox: { exec: { timeoutSeconds: 3 }, browser: { allowHostControl: true } } }, { id: "b" }],
  })
  const { mode, exec, browser } = settingsFor(agents, "a")
  assert.deepEqual([mode, exec.network, exec.timeoutSeconds, browser.allowHostControl], ["all", true, 3, true])
  assert.deepEqual(settingsFor(agents, "b"), agents.defaults.sandbox)
})

describe("the container engine", () => {
  test("is looked for, with the command that mends what is missing", async () => {
    const engine = { command: "docker", image: "svc-sandbox" }
    assert.match((await probeDocker(missing, engine)).exec?.hint ?? "", /install docker/)
    const silent: Look = async () => ({ code: 1, text: "Cannot connect to the Docker daemon" })
    assert.match((await probeDocker(silent, engine)).exec?.hint ?? "", /systemctl start docker/)
    const noImage: Look = async (_program, [word]) =>
      word === "version" ? { code: 0, text: "28.0" } : { code: 1, text: "" }
    assert.match((await probeDocker(noImage, engine)).exec?.hint ?? "", /^docker build -t svc-sandbox /)
  })

  const hasClient =
    thisMachine.read("/usr/local/bin/docker") !== undefined || thisMachine.read("/usr/bin/docker") !== undefined
  test("is asked by its own client for a container with the same walls", { skip: !hasClient }, async () => {
    const spec: BoxSpec = {
      kind: "browser",
      session: "s",
      agentId: "main",
      argv: ["chromium", "--headless=new"],
      mounts: [{ source: "/tmp", target: "/work", writable: true }],
      proxySocket: "/tmp",
      limits: { memoryMb: 512, tasks: 99 },
      hasPipes: true,
    }
    const words = dockerArguments(spec, { name: "svc-test", image: "svc-sandbox", user: "1000:1000" })
    const created = await askEngine(words)
    const host = created["HostConfig"] as JsonObject
    assert.deepEqual(
      [
        host["NetworkMode"],
        host["ReadonlyRootfs"],
        host["CapDrop"],
        host["SecurityOpt"],
        host["Privileged"],
        host["AutoRemove"],
      ],
      ["none", true, ["ALL"], ["no-new-privileges"], false, true],
    )
    assert.deepEqual([host["Memory"], host["MemorySwap"], host["PidsLimit"]], [512 * 1024 ** 2, 512 * 1024 ** 2, 99])
    const mounts = host["Mounts"] as JsonObject[]
    assert.deepEqual(
      mounts.map(({ Target, ReadOnly }) => [Target, ReadOnly ?? false]),
      [
        ["/work", false],
        ["/run/svc/guard.sock", true],
      ],
    )
    assert.deepEqual([created["User"], created["OpenStdin"], created["Tty"]], ["1000:1000", true, false])
    assert.ok(!JSON.stringify(created).includes("--no-sandbox"))
  })
})

/** Runs the client against an engine that takes the wish and refuses it: what it was asked for is what counts. */
async function askEngine(words: string[]): Promise<JsonObject> {
  const wish = Promise.withResolvers<JsonObject>()
  const server = createServer((request, response) => {
    response.setHeader("api-version", "1.44")
    if (request.url?.endsWith("/_ping")) return void response.end("OK")
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      if (request.url?.includes("/containers/create"))
        wish.resolve(parseJson(Buffer.concat(parts).toString()) as JsonObject)
      response.writeHead(500, { "content-type": "application/json" }).end('{"message": "enough"}')
    })
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const environment = {
    PATH: process.env["PATH"],
    DOCKER_HOST: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  try {
    const refusal = await new Promise<string>((resolve) => {
      execFile("docker", words, { env: environment, timeout: 10_000 }, (_error, _out, said) => resolve(said))
    })
    assert.match(refusal, /enough/)
    return await wish.promise
  } finally {
    server.close()
  }
}
