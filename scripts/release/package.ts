// Makes the package that is published: what was built, the documents and the licences of everything that the bundles hold.
// The libraries are in the bundles, so that an installation is this package and one optional library.
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Manifest {
  name: string
  version: string
  description: string
  license: string
  type: string
  bin: Record<string, string>
  engines: Record<string, string>
  optionalDependencies: Record<string, string>
}

const shipped = ["dist", "docs", "packaging", "CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"]

/** Fills a folder with the package; `version` is only for tests that need another one. */
export function stagePackage(options: { root: string; folder: string; version?: string }): Manifest {
  const { root, folder } = options
  mkdirSync(folder, { recursive: true })
  // Pictures are for whoever reads the repository.
  const filter = (path: string) => path !== join(root, "docs", "pictures")
  for (const name of shipped) cpSync(join(root, name), join(folder, name), { recursive: true, filter })
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest
  const { name, description, license, type, bin, engines, optionalDependencies } = own
  const version = options.version ?? own.version
  // No scripts: nothing is run when it is installed.
  const manifest = { name, version, description, license, type, bin, engines, optionalDependencies }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), collectLicenses(root))
  return manifest
}

/** Packs a staged folder; answers the path of the tarball. */
export function packStaged(staged: string, into: string): string {
  mkdirSync(into, { recursive: true })
  const words = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", into]
  const result = spawnSync("npm", words, { cwd: staged, encoding: "utf8" })
  if (result.status !== 0) throw new Error(`npm pack failed: ${result.stderr || String(result.error)}`)
  const [packed] = JSON.parse(result.stdout) as { filename: string }[]
  return join(into, packed?.filename ?? "")
}

export interface InstallOptions {
  tarball: string
  prefix: string
  /** Without a network: the optional library is left out, everything else is in the tarball. */
  offline: boolean
}

/** As a person installs it for good; throws with what npm has said. */
export function installPackage({ tarball, prefix, offline }: InstallOptions): void {
  // An empty cache: what npm has fetched before must not help.
  const without = offline ? ["--offline", "--omit=optional", "--cache", join(prefix, ".npm-cache")] : []
  const words = ["install", "--global", "--prefix", prefix, "--ignore-scripts", "--no-audit", "--no-fund", ...without]
  const result = spawnSync("npm", [...words, "--loglevel=error", tarball], { cwd: "/", encoding: "utf8" })
  if (result.status !== 0) throw new Error(`npm install failed: ${result.stderr || String(result.error)}`)
}

/** Of every package that can be in a bundle: more than there are, never fewer. */
function collectLicenses(root: string): string {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; version?: string; license?: string }>
  }
  const parts = ["Libraries that are part of the bundles in dist, and their licences."]
  for (const [path, { dev, optional, version, license }] of Object.entries(lock.packages)) {
    if (path === "" || dev || optional) continue
    const files = readdirSync(join(root, path)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    const texts = files.map((name) => readFileSync(join(root, path, name), "utf8").trim())
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
    parts.push([`${name} ${version} (${license})`, ...texts].join("\n\n"))
  }
  return `${parts.join(`\n\n${"=".repeat(80)}\n\n`)}\n`
}
