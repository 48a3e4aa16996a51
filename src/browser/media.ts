// Pictures and documents on disk, for whoever sends or shows them: `<state>/media/browser/<uuid>.<ext>`, readable by
// the owner only.
import { join } from "node:path"
import { type Ids, writeDurableFile } from "../kernel/index.ts"
import type { Picture } from "./page/screenshot.ts"

interface MediaOptions {
  stateFolder: string
  ids: Ids
}

/** `data` is base64. */
export async function saveFile(options: MediaOptions, file: { data: string; extension: string }): Promise<string> {
  const path = newPath(options, file.extension)
  await writeDurableFile(path, Buffer.from(file.data, "base64"))
  return path
}

/** A copy of a file of ours, made without copying its bytes where the disk can. */
export async function copyToMedia(options: MediaOptions, from: string, extension: string): Promise<string> {
  const path = newPath(options, extension)
  await writeDurableFile(path, { copyOf: from })
  return path
}

function newPath({ stateFolder, ids }: MediaOptions, extension: string): string {
  return join(stateFolder, "media", "browser", `${ids.uuid()}.${extension}`)
}

export function savePicture(options: MediaOptions, picture: Picture): Promise<string> {
  return saveFile(options, { data: picture.data, extension: picture.type === "png" ? "png" : "jpg" })
}
