// The only door of channels.
export type * from "./contract.ts"
export * from "./commands/index.ts"
export { configuredQueue } from "./queue.ts"
export { createChatappChannel, lateFilesJobKind } from "./chatapp/index.ts"
export type { ChatappOptions } from "./chatapp/index.ts"
export { createPairing } from "./pairing.ts"
export type { Approval, Decided, Pairing, PairingList, PairingOptions } from "./pairing.ts"
export type { PairedSender, PairingRequest } from "./store.ts"
