// The door of inbound media: what a turn's files need, made once per channel.
import { join } from "node:path"
import type { TurnPreparation } from "../../../agent/turn-input.ts"
import type { Background } from "../../../kernel/index.ts"
import { channelName } from "../settings.ts"
import { Downloads } from "./downloads.ts"
import type { JobHandler } from "../../../store/index.ts"
import { type FetchParts, createLateFetch, fetchFiles } from "./fetch.ts"
import { MediaFolder } from "./keep.ts"

export type { DescribePicture } from "./fetch.ts"
export { lateFilesJobKind } from "./late.ts"

export function createInboundMedia(
  options: Omit<FetchParts, "downloads"> & { stateFolder: string; background: Background },
): { fetch: TurnPreparation["fetch"]; late: JobHandler; stop(): void } {
  const own = { ...options, log: options.log.child({ part: channelName }) }
  const folder = new MediaFolder(join(options.stateFolder, "media"))
  const downloads = new Downloads({ ...own, folder, pruneTime: () => options.store.pruneTime() })
  const parts = { ...own, downloads }
  return {
    fetch: (input, signal) => fetchFiles(parts, input, signal),
    late: createLateFetch(parts),
    stop: () => downloads.stop(),
  }
}
