// Finds out how this program was installed. Only what npm has put into a global place, or one like it, is replaced: a clone, an
// image, a project's own node_modules and npx's cache each have a better way, which is named.
import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { AppError } from "../kernel/index.ts"
import type { Place } from "./contract.ts"

/** Throws `update-refused`. */
export function findPlace(options: { program: string; packagedAs: string | undefined }): Place {
  const { program, packagedAs } = options
  const folder = dirname(dirname(program))
  const modules = dirname(folder)
  if (packagedAs === "image")
    refuse("an image: a new version is a new image", "docker compose up --build --detach (docs/guides/docker.md)")
  if (!program.endsWith(".cjs") || existsSync(join(folder, "cli")))
    refuse("a clone", "git pull && npm run build, then restart the gateway")
  if (/[/\\]_npx[/\\]/.test(program)) refuse("npx's cache", "npm install --global svc-gateway")
  if (basename(modules) !== "node_modules" || basename(folder) !== "svc-gateway") {
    refuse(`${folder}, which npm has not made`, "npm install --global svc-gateway")
  }
  if (["package.json", "package-lock.json"].some((name) => existsSync(join(dirname(modules), name)))) {
    refuse(
      `the project ${dirname(modules)}, whose lockfile says the version`,
      "npm install svc-gateway@latest there, then restart the gateway",
    )
  }
  requireWritable(modules)
  return {
    package: folder,
    program: join(folder, "dist", "svc.cjs"),
    version: readVersion(folder),
    beside: join(modules, ".svc-gateway-beside"),
    before: join(modules, ".svc-gateway-before"),
    lock: join(modules, ".svc-gateway-update.lock"),
  }
}

/** Throws Error when the folder holds no package of ours. */
export function readVersion(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>
  if (name !== "svc-gateway" || typeof version !== "string")
    throw new Error(`${folder} holds ${String(name)}, not svc-gateway`)
  return version
}

function refuse(what: string, instead: string): never {
  throw new AppError("update-refused", `This program runs from ${what}`, { hint: instead })
}

function requireWritable(modules: string): void {
  try {
    accessSync(modules, constants.W_OK)
  } catch (error) {
    throw new AppError("update-refused", `The program lies in ${modules}, which this user may not write`, {
      cause: error,
      hint: "run it as whoever installed the program: sudo svc update --state-dir <the state folder>",
    })
  }
}
