// Pictures and documents on disk, for whoever sends or shows them: `<state>/media/browser/<uuid>.<ext>`, readable by
// the owner only.
import { chmod, constants, copyFile, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Ids } from "../kernel/index.ts"
import type { Picture } from "./page/screenshot.ts"

interface MediaOptions {
  stateFolder: string
  ids: Ids
}

/** `data` is base64. */
export async function saveFile(options: MediaOptions, file: { data: string; extension: string }): Promise<string> {
  const path = await newPath(options, file.extension)
  await writeFile(path, Buffer.from(file.data, "base64"), { mode: 0o600 })
  return path
}

/** A copy of a file of ours, made without copying its bytes where the disk can. */
export async function copyToMedia(options: MediaOptions, from: string, extension: string): Promise<string> {
  const path = await newPath(options, extension)
  await copyFile(from, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await chmod(path, 0o600)
  return path
}

async function newPath({ stateFolder, ids }: MediaOptions, extension: string): Promise<string> {
  const folder = join(stateFolder, "media", "browser")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return join(folder, `${ids.uuid()}.${extension}`)
}

export function savePicture(options: MediaOptions, picture: Picture): Promise<string> {
  return saveFile(options, { data: picture.data, extension: picture.type === "png" ? "png" : "jpg" })
}
