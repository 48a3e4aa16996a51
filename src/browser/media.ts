// Pictures and documents on disk, for whoever sends or shows them: `<state>/media/browser/<uuid>.<ext>`, readable by
// the owner only.
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Ids } from "../kernel/index.ts"
import type { Picture } from "./page/screenshot.ts"

interface MediaOptions {
  stateFolder: string
  ids: Ids
}

/** `data` is base64. */
export async function saveFile(options: MediaOptions, file: { data: string; extension: string }): Promise<string> {
  const folder = join(options.stateFolder, "media", "browser")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${options.ids.uuid()}.${file.extension}`)
  await writeFile(path, Buffer.from(file.data, "base64"), { mode: 0o600 })
  return path
}

export function savePicture(options: MediaOptions, picture: Picture): Promise<string> {
  return saveFile(options, { data: picture.data, extension: picture.type === "png" ? "png" : "jpg" })
}
