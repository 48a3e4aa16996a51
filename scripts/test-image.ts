// Makes the image `svc` without a container engine: a fresh Debian root, the steps of packaging/image.sh in it, and then
// the program as the container runs it: its user, no capabilities, no new privileges, the shipped seccomp filter, with
// Chromium's own sandbox on. Takes minutes and root; needs mmdebstrap and bubblewrap.
import { spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { installPackage, packStaged, stagePackage } from "./release/package.ts"
import { compileSeccomp } from "./release/seccomp.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const suite = "bookworm"
const keep = process.argv.includes("--keep")
/** A folder that `--keep` has left: only the session in it is tried again. */
const reuse = process.argv.includes("--reuse") ? process.argv.at(-1) : undefined

function run(what: string, command: string, words: string[], options: { input?: string } = {}): string {
  console.log(`- ${what}`)
  const result = spawnSync(command, words, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024, ...options })
  if (result.status === 0) return result.stdout
  const said = [result.stdout, result.stderr, result.error && String(result.error)].filter(Boolean).join("\n")
  throw new Error(`${what}: ${command} ended with ${result.status}:\n${said.split("\n").slice(-30).join("\n")}`)
}

function requirePrograms(): void {
  if (process.getuid?.() !== 0) throw new Error("making a Debian root takes root: sudo npm run test:image")
  const missing = ["mmdebstrap", "bwrap"].filter((name) => spawnSync(name, ["--version"]).status !== 0)
  if (missing.length === 0) return
  const packages = missing.map((name) => (name === "bwrap" ? "bubblewrap" : name))
  console.log(`- installing Debian's ${packages.join(" and ")}`)
  run("apt-get update", "apt-get", ["update", "-q"])
  run("apt-get install", "apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages])
}

/** A Debian root as the engines' `debian:bookworm-slim` is one: the essential packages and apt. */
function makeRoot(system: string): void {
  run(`a fresh Debian ${suite}`, "mmdebstrap", ["--variant=minbase", suite, system])
}

/** What the first stage of the Dockerfile does; it has a network and npm, which the image itself has not. */
function addProgram(system: string, folder: string): void {
  stagePackage({ root, folder: join(folder, "package") })
  const tarball = packStaged(join(folder, "package"), folder)
  installPackage({ tarball, prefix: join(folder, "prefix"), offline: false })
  cpSync(join(folder, "prefix"), join(system, "opt", "svc"), { recursive: true, verbatimSymlinks: true })
  copyFileSync(process.execPath, join(system, "usr", "local", "bin", "node"))
  chmodSync(join(system, "usr", "local", "bin", "node"), 0o755)
}

function step(system: string, ...words: string[]): void {
  const mounts = [
    "--bind",
    system,
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/run",
    "--tmpfs",
    "/tmp",
    "--chmod",
    "1777",
    "/tmp",
  ]
  const net = ["--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf"]
  const script = "/usr/local/share/svc/image.sh"
  const env = ["--setenv", "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
  run(`image.sh ${words.join(" ")}`, "bwrap", [...mounts, ...net, ...env, script, ...words])
}

function makeImage(to: string, work: string): void {
  makeRoot(to)
  mkdirSync(join(to, "usr/local/share/svc"), { recursive: true })
  copyFileSync(join(root, "packaging/image.sh"), join(to, "usr/local/share/svc/image.sh"))
  step(to, "base")
  addProgram(to, work)
  step(to, "check", "slim")
  step(to, "browser")
  step(to, "check", "svc")
}

/** As compose.yaml runs it. The session inside starts the gateway, opens a page and looks at the process that shows it. */
function tryGateway(system: string, folder: string): void {
  const filter = join(folder, "filter.bpf")
  writeFileSync(filter, compileSeccomp(readFileSync(join(root, "packaging", "chromium-seccomp.json"), "utf8")))
  const session = join(folder, "session.sh")
  copyFileSync(join(root, "scripts", "release", "image-session.sh"), session)
  chmodSync(session, 0o755)
  const bwrap = [
    `bwrap --ro-bind ${system} / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /dev/shm --chmod 1777 /tmp --chmod 1777 /dev/shm`,
    `--bind ${system}/var/lib/svc /var/lib/svc --ro-bind ${session} /tmp/session.sh --unshare-pid --unshare-ipc --unshare-uts`,
    `--clearenv --setenv HOME /var/lib/svc --setenv PATH /usr/local/bin:/usr/bin:/bin --seccomp 9`,
    `--cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP`,
    `setpriv --reuid=svc --regid=svc --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`,
    `tini -s -- /tmp/session.sh`,
  ]
  const line = `exec ${bwrap.join(" ")} 9<${filter}`
  const said = run("the gateway and Chromium, closed in as compose.yaml does it", "sh", ["-c", line])
  console.log(said.trim().replaceAll(/^/gm, "    "))
  for (const wanted of [
    /^ready$/m,
    /^tab: about:blank$/m,
    /^renderer: its own user namespace, seccomp 2$/m,
    /^stopped$/m,
  ]) {
    if (!wanted.test(said)) throw new Error(`the session did not say ${wanted.source}`)
  }
}

const folder = reuse ?? mkdtempSync(join(tmpdir(), "svc-image-"))
const system = join(folder, "root")
try {
  requirePrograms()
  if (reuse === undefined) makeImage(system, folder)
  tryGateway(system, folder)
  console.log("1 passed, 0 failed")
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.log("0 passed, 1 failed")
  process.exitCode = 1
} finally {
  if (keep || reuse !== undefined) console.log(`kept: ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}
