// The extension's files: shipped beside the bundles, copied to where a browser can load them from and go on doing so after
// an update of the package.
import { copyFile, mkdir, mkdtemp, readFile, readdir, rename, rm } from "node:fs/promises"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { AppError } from "../../kernel/index.ts"

export function installedFolder(stateFolder: string): string {
  return join(stateFolder, "browser", "extension")
}

/** Of the copy in the state folder; undefined when there is none. */
export async function installedVersion(stateFolder: string): Promise<string | undefined> {
  return versionIn(installedFolder(stateFolder))
}

export async function shippedVersion(): Promise<string | undefined> {
  const folder = shippedFolder()
  return folder === undefined ? undefined : versionIn(folder)
}

/** Puts the shipped files in place whole; a browser that has loaded them takes the new ones at its next start. */
export async function installExtension(stateFolder: string): Promise<{ path: string; version: string }> {
  const from = shippedFolder()
  if (from === undefined) {
    throw new AppError("not-found", "The extension is not part of this installation", {
      hint: "Install the whole package; in a clone of the sources run: npm run build",
    })
  }
  const path = installedFolder(stateFolder)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const made = await mkdtemp(`${path}-`)
  for (const name of await readdir(from)) await copyFile(join(from, name), join(made, name))
  await rm(path, { recursive: true, force: true })
  await rename(made, path)
  return { path, version: (await versionIn(path)) ?? "" }
}

/** Beside the bundle, or where the sources are built to. */
function shippedFolder(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url))
  const places = [join(here, "extension"), join(here, "..", "extension"), join(here, "../../../dist/extension")]
  return places.find((place) => existsSync(join(place, "manifest.json")) && existsSync(join(place, "worker.js")))
}

async function versionIn(folder: string): Promise<string | undefined> {
  try {
    const { version } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as { version?: string }
    return version
  } catch {
    return undefined
  }
}
