// What is kept of a conversation -> what a provider is sent.
export type { CallIdForm } from "./names.ts"
export { hasPicture } from "./pictures.ts"
export { needsReplay, prepareConversation, type PrepareOptions } from "./prepare.ts"
export { createSum } from "./sum.ts"
