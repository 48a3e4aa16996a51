// The door of inbound media: what a turn's files need, made once per channel.
import { join } from "node:path"
import type { TurnPreparation } from "../../../agent/turn-input.ts"
import type { Background } from "../../../kernel/index.ts"
import { channelName } from "../settings.ts"
import { Downloads } from "./downloads.ts"
import { type FetchParts, fetchFiles } from "./fetch.ts"
import { MediaFolder } from "./keep.ts"

export type { DescribePicture } from "./fetch.ts"

export function createInboundMedia(
  options: Omit<FetchParts, "downloads"> & { stateFolder: string; background: Background },
): { fetch: TurnPreparation["fetch"]; stop(): void } {
  const parts = { ...options, log: options.log.child({ part: channelName }) }
  const downloads = new Downloads({ ...parts, folder: new MediaFolder(join(options.stateFolder, "media")) })
  return {
    fetch: (input, signal) => fetchFiles({ ...parts, downloads }, input, signal),
    stop: () => downloads.stop(),
  }
}
