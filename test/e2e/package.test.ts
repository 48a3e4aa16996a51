// What is published works by itself: packed, installed into an empty prefix, run without git or anything of this clone. And
// the steps of the images, as far as they can be judged without making one (npm run test:image does).
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { readFileSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { packStaged, stagePackage } from "../../scripts/release/package.ts"
import { tryPackage } from "../../scripts/release/try-package.ts"
import { temporaryFolder } from "../support/temporary.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")

test("the packed program installs and runs by itself, without git and without a network", async () => {
  const folder = temporaryFolder()
  const manifest = stagePackage({ root, folder: join(folder, "package") })
  // `npx svc-gateway` runs this program; `svc` alone is what somebody else has called a package.
  assert.deepEqual([manifest.name, Object.keys(manifest.bin)], ["svc-gateway", ["svc", "svc-gateway"]])
  const tarball = packStaged(join(folder, "package"), folder)
  const tried = await tryPackage({ tarball, folder: join(folder, "try"), offline: true })
  assert.equal(tried.version, manifest.version)
  assert.deepEqual(tried.ready, { ok: true })
  assert.equal(tried.packages, 1)
  // Advice has the name that works for whoever ran it by npx.
  const answers = ["--model", "offline", "--bot-token", "none", "--browser", "no", "--no-service", "--no-start"]
  const set = spawnSync(process.execPath, [realpathSync(join(tried.bin, "svc")), "setup", ...answers], {
    encoding: "utf8",
    env: { HOME: folder, PATH: dirname(process.execPath), npm_command: "exec" },
  })
  assert.match(set.stdout, /Start it with: npx svc-gateway gateway/, set.stderr)
  const config = join(folder, "wrong.json")
  writeFileSync(config, "{ hoks: {} }")
  const refused = spawnSync(process.execPath, [realpathSync(join(tried.bin, "svc")), "gateway", "--config", config], {
    encoding: "utf8",
    env: { HOME: folder, PATH: dirname(process.execPath), npm_command: "exec" },
  })
  assert.match(refused.stderr, /hint: .*npx svc-gateway config validate/)
  const checked = spawnSync(process.execPath, [realpathSync(join(tried.bin, "svc")), "config", "validate"], {
    encoding: "utf8",
    env: { HOME: folder, PATH: dirname(process.execPath), npm_command: "exec", SVC_CONFIG_PATH: config },
  })
  assert.match(checked.stderr, /npx svc-gateway config validate checks it/)
  // With the optional library it is 14 MB more; 80 MB are allowed.
  assert.ok(tried.bytes < 40_000_000, `${tried.bytes} bytes`)
  const listed = spawnSync("tar", ["tzf", tarball], { encoding: "utf8" }).stdout.trim().split("\n")
  const foreign = listed.filter(
    (path) => !/^package\/(dist|docs|packaging|[A-Z][\w-]+\.(md|txt)|LICENSE|package\.json)/.test(path),
  )
  assert.deepEqual(foreign, [])
  for (const name of ["chromium-seccomp.json", "compose.yaml"]) assert.ok(listed.includes(`package/packaging/${name}`))
  const licenses = spawnSync("tar", ["xzOf", tarball, "package/THIRD-PARTY-LICENSES.txt"], { encoding: "utf8" }).stdout
  const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> }
  for (const [name, version] of Object.entries(dependencies))
    assert.ok(licenses.includes(`\n${name} ${version} (`), name)
})

test("the Dockerfile takes its steps from the script, ends as nobody of importance, and keeps Chromium's sandbox", () => {
  const dockerfile = read("packaging/Dockerfile")
  const script = (...words: string[]) =>
    spawnSync("sh", [join(root, "packaging/image.sh"), "--dry-run", ...words], { encoding: "utf8" })
  const steps = [...dockerfile.matchAll(/image\.sh (base|browser|program .*|check .*)$/gm)].map(
    ([, step]) => step ?? "",
  )
  assert.deepEqual(
    steps.map((step) => step.split(" ")[0]),
    ["program", "base", "check", "browser", "check"],
  )
  for (const step of steps) assert.equal(script(...step.replace(/"\$\(.*?\)"/, "x.tgz").split(" ")).status, 0, step)
  assert.equal(script("bace").status, 2)
  assert.match(script("browser").stdout, /install .*bubblewrap chromium fonts-/)
  for (const target of ["svc", "svc-slim"]) {
    const stage = dockerfile.split(/^FROM /m).find((part) => part.startsWith(`base AS ${target}\n`))
    assert.equal(stage?.match(/^USER .*/gm)?.at(-1), "USER svc", target)
  }
  const compose = read("packaging/compose.yaml")
  assert.match(compose, /seccomp=chromium-seccomp\.json/)
  assert.doesNotMatch(compose, /privileged: true|cap_add|unconfined/)
  const { defaultAction, syscalls } = JSON.parse(read("packaging/chromium-seccomp.json")) as {
    defaultAction: string
    syscalls: { names: string[]; action: string }[]
  }
  const allowed = new Set(syscalls.flatMap(({ names }) => names))
  assert.equal(defaultAction, "SCMP_ACT_ERRNO")
  for (const name of ["clone", "clone3", "unshare", "chroot", "execve", "seccomp"]) assert.ok(allowed.has(name), name)
  const never = ["bpf", "kexec_load", "init_module", "keyctl", "open_by_handle_at", "reboot", "swapon", "clock_settime"]
  assert.deepEqual(
    never.filter((name) => allowed.has(name)),
    [],
  )
})
