// The door of the page's own chat.
export type { WebDraft } from "./contract.ts"
export { type WebChat, type WebOptions, createWebChannel } from "./channel.ts"
export { draftTopic, webTopics } from "./topics.ts"
