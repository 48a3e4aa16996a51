// Where a transform may be: a plain file below the transforms folder, reached without any symbolic link.
// Asked on every call, because what a name stands for can change while the gateway runs.
import { type Stats, lstatSync, realpathSync } from "node:fs"
import { join, sep } from "node:path"
import { AppError } from "../../kernel/index.ts"

export interface ModuleFile {
  /** The transforms folder, without links. */
  root: string
  path: string
  /** Changes whenever the file does. */
  version: string
}

/** Throws `config-invalid` saying why the module may not be used. */
export function confineModule(folder: string, module: string): ModuleFile {
  const root = realpathOf(folder)
  const parts = module.split("/")
  if (parts.some((part) => part === "" || /^\.+$/.test(part)) || !/\.(?:js|mjs|ts)$/.test(module)) {
    throw refused(module, "it is not a relative path of a .js, .mjs or .ts file")
  }
  let path = root
  for (const part of parts) {
    path = join(path, part)
    if (statOf(path, module).isSymbolicLink()) throw refused(module, "it is reached through a symbolic link")
  }
  if (!path.startsWith(root + sep)) throw refused(module, "it is outside hooks.transformsDir")
  const info = statOf(path, module)
  if (!info.isFile()) throw refused(module, "it is not a file")
  return { root, path, version: versionOf(info) }
}

/** Of any file; it changes when the file goes, too. */
export function fileVersion(path: string): string {
  const info = lstatSync(path, { throwIfNoEntry: false })
  return info ? versionOf(info) : ""
}

function versionOf({ mtimeMs, size, ino }: Stats): string {
  return `${mtimeMs}:${size}:${ino}`
}

function realpathOf(folder: string): string {
  try {
    return realpathSync.native(folder)
  } catch (error) {
    throw new AppError("config-invalid", "The folder hooks.transformsDir cannot be read", { cause: error })
  }
}

function statOf(path: string, module: string) {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (!info) throw refused(module, "there is no such file")
  return info
}

function refused(module: string, why: string): AppError {
  return new AppError("config-invalid", `Transform ${JSON.stringify(module)} is not used: ${why}`)
}
