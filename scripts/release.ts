// Makes a release: checks -> package -> tried from an empty prefix -> published and tagged. `--dry-run` does all but the
// last and shows what that would be; `--pack <folder>` only packs.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { packStaged, stagePackage } from "./release/package.ts"
import { tryPackage } from "./release/try-package.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const mostPackages = 70
const mostBytes = 80_000_000

const words = process.argv.slice(2)
const packInto = words[words.indexOf("--pack") + 1]
const isDry = words.includes("--dry-run")

if (words.includes("--pack")) {
  if (packInto === undefined) fail("--pack needs a folder")
  else await inTemporaryFolder(async (folder) => console.log(pack(folder, resolve(packInto)).tarball))
} else if (words.some((word) => word !== "--dry-run")) {
  fail(`unknown: ${words.join(" ")}; there is --dry-run, and --pack <folder>`)
} else {
  await inTemporaryFolder(release)
}

async function release(folder: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
  const tag = `v${version}`
  const problems = findProblems(version, tag)
  for (const problem of problems) console.log(`${isDry ? "would stop" : "stopped"}: ${problem}`)
  if (problems.length > 0 && !isDry) return fail("nothing was published")
  const { tarball, name } = pack(folder, folder)
  const bytes = readFileSync(tarball)
  console.log(`packed ${name} ${version}: ${kilobytes(bytes.length)} KB, sha512-${hash(bytes)}`)
  const tried = await tryPackage({ tarball, folder: join(folder, "try"), offline: false })
  console.log(
    `installed: ${tried.packages} packages, ${kilobytes(tried.bytes)} KB; started, ready: ${JSON.stringify(tried.ready)}`,
  )
  if (tried.version !== version) return fail(`the program says that it is ${tried.version}: npm run build`)
  if (tried.packages > mostPackages) return fail(`more than ${mostPackages} packages`)
  if (tried.bytes > mostBytes) return fail(`more than ${kilobytes(mostBytes)} KB installed`)
  for (const step of [
    ["npm", "publish", "--access", "public", tarball],
    ["git", "tag", "--annotate", tag, "--message", `svc ${version}`],
  ]) {
    if (isDry) console.log(`would run: ${step.join(" ")}`)
    else if (spawnSync(step[0] ?? "", step.slice(1), { cwd: root, stdio: "inherit" }).status !== 0) {
      return fail(`${step.join(" ")} did not work; the steps after it were not done`)
    }
  }
  if (!isDry) console.log(`released ${version}; now: git push origin ${tag}`)
}

/** What a release wants to be in order first; each with what to do. */
function findProblems(version: string, tag: string): string[] {
  const problems: string[] = []
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8")
  if (!changelog.includes(`## [${version}]`)) {
    problems.push(`CHANGELOG.md has no section [${version}]: give [Unreleased] that name, and a date`)
  }
  const git = (...parameters: string[]) => spawnSync("git", parameters, { cwd: root, encoding: "utf8" })
  const status = git("status", "--porcelain")
  if (status.status !== 0) problems.push("this is no clone: a release is made from one")
  else if (status.stdout !== "") problems.push("there are changes that are not committed")
  if (git("rev-parse", "--verify", "--quiet", `refs/tags/${tag}`).status === 0) {
    problems.push(`the tag ${tag} is there already: raise the version in package.json`)
  }
  return problems
}

function pack(folder: string, into: string): { tarball: string; name: string } {
  const staged = join(folder, "package")
  const { name } = stagePackage({ root, folder: staged })
  return { tarball: packStaged(staged, into), name }
}

async function inTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-release-"))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function hash(bytes: Uint8Array): string {
  return createHash("sha512").update(bytes).digest("base64")
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1000)
}

function fail(line: string): void {
  console.error(`error: ${line}`)
  process.exitCode = 1
}
