// The door of a message's content: its words, its files, what it refers to.
export * from "./content.ts"
export type { RemoteFile, StickerFacts } from "./files.ts"
export { stickerFacts } from "./files.ts"
export { stickerText } from "./kinds.ts"
export * from "./labels.ts"
export * from "./reply.ts"
