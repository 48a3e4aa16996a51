// The only door of the chat channel.
export { createChatappChannel } from "./channel.ts"
export type { ChatappOptions } from "./channel.ts"
export { lateFilesJobKind } from "./media/index.ts"
