// The backups of a folder, newest first, each with what its manifest says.
import type { BackupEntry } from "./contract.ts"
import { describeError } from "../kernel/index.ts"
import { findArchives } from "./folder.ts"
import { readManifest } from "./verify.ts"

export async function listBackups(
  folder: string,
  { signal, limit }: { signal?: AbortSignal; limit?: number } = {},
): Promise<BackupEntry[]> {
  const entries: BackupEntry[] = []
  for (const { file, bytes, createdAt, scheduled } of (await findArchives(folder)).slice(0, limit)) {
    signal?.throwIfAborted()
    const known = { archive: file, bytes, createdAt, scheduled }
    try {
      const manifest = await readManifest(file, signal)
      entries.push({ ...known, version: manifest.version, files: manifest.members.length })
    } catch (error) {
      entries.push({ ...known, version: null, files: null, problem: describeError(error) })
    }
  }
  return entries
}
