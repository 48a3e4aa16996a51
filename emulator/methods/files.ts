// getFile.
import { badRequest } from "../errors.ts"
import type { MethodCall, MethodTable } from "./method.ts"

const maxDownloadBytes = 20 * 1024 * 1024

export const fileMethods: MethodTable = { getFile }

async function getFile({ world, arguments: source }: MethodCall): Promise<object> {
  const fileId = source.text("file_id").trim()
  if (fileId === "") throw badRequest("File_id not specified")
  const file = world.files.get(fileId)
  if (!file) throw badRequest("Invalid file_id")
  if (file.bytes.length > maxDownloadBytes && !world.options.localMode) throw badRequest("File is too big")
  world.files.openLink(file)
  const path = world.options.localMode ? await world.localFolder.place(file) : file.path
  return { file_id: file.fileId, file_unique_id: file.uniqueId, file_size: file.bytes.length, file_path: path }
}
