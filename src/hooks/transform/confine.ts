// Where a transform may be: a plain file below the transforms folder, reached without any symbolic link.
// Asked on every call, because what a name stands for can change while the gateway runs.
import { lstatSync, realpathSync } from "node:fs"
import { join, sep } from "node:path"
import { AppError } from "../../kernel/index.ts"

export interface ModuleFile {
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
  return { path, version: `${info.mtimeMs}:${info.size}:${info.ino}` }
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
