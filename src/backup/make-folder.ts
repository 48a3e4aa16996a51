// Makes the folder that backups go to, and says in words why it cannot be one.
import { mkdir, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { AppError } from "../kernel/index.ts"

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "it is a file",
  ENOTDIR: "a part of its path is a file",
  EACCES: "no permission",
  EPERM: "no permission",
  EROFS: "the file system is read only",
  ENOENT: "nothing can be made there",
}

/** Throws `bad-request` when there can be no folder; a full disk and the like pass through as they are. */
export async function makeBackupFolder(folder: string): Promise<void> {
  try {
    await makeWithParents(resolve(folder))
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ""]
    if (reason === undefined) throw error
    throw new AppError("bad-request", `Backups cannot go to ${folder}: ${reason}`, {
      hint: "Name a folder that you may write to: svc backup create --folder <dir>, or backup.folder in the configuration",
      cause: error,
    })
  }
}

/** One by one: the `recursive` of Node never ends where a file system takes no new names, such as /proc. */
async function makeWithParents(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" && dirname(folder) !== folder) {
      await makeWithParents(dirname(folder))
      await mkdir(folder, { mode: 0o700 })
    } else if (!(await isFolder(folder))) throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // The error that the caller has says more than this one.
    return false
  }
}
