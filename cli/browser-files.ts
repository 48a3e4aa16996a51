// Files of whoever runs `svc browser upload` and `download`, wherever they lie. The gateway reads and writes only in its own
// folders, for every caller: the command carries the files there and back, with the rights of the person who runs it.
import { randomUUID } from "node:crypto"
import { mkdir, rm, stat } from "node:fs/promises"
import { basename, dirname, join, resolve, sep } from "node:path"
import { safeName } from "../src/browser/files/safe-name.ts"
import { writeDurableFile } from "../src/kernel/durable-file.ts"
import { AppError } from "../src/kernel/errors.ts"
import { unlessMissing } from "../src/kernel/unless-missing.ts"

/** The name below the uploads folder under which the gateway finds the file. Throws `bad-request` when there is none. */
export async function lendFile(path: string, stateFolder: string): Promise<string> {
  const uploads = join(stateFolder, "uploads")
  const given = resolve(path)
  if (given.startsWith(uploads + sep)) return given
  const facts = await unlessMissing(stat(given))
  // A name that means nothing here may be that of a file which was put into the uploads folder.
  if (!facts && (await unlessMissing(stat(join(uploads, path))))) return path
  if (!facts?.isFile()) {
    throw new AppError("bad-request", `${path}: ${facts ? "it is no file" : "there is no such file"}`)
  }
  const name = join("lent", randomUUID(), safeName(basename(given)))
  await mkdir(dirname(join(uploads, name)), { recursive: true, mode: 0o700 })
  await writeDurableFile(join(uploads, name), { copyOf: given })
  return name
}

/** Where a finished download goes: the path itself, or into it when it is a folder. Says where the file is then. */
export async function placeFile(from: string, wanted: string, suggested: string): Promise<string> {
  const given = resolve(wanted)
  const to = (await unlessMissing(stat(given)))?.isDirectory() ? join(given, safeName(suggested)) : given
  if (to === from) return from
  try {
    await mkdir(dirname(to), { recursive: true })
    await writeDurableFile(to, { copyOf: from })
  } catch (error) {
    const reason = (error as Error).message
    throw new AppError("bad-request", `${wanted}: ${reason}`, { cause: error, hint: `The file is here: ${from}` })
  }
  await rm(from, { force: true })
  return to
}
