// The door of browser control: the service for the gateway, its settings, the command line's part and the wire types.
export type { ProfileEntry } from "./access.ts"
export type { BrowserConfig } from "./config.ts"
export type * from "./contract.ts"
export type { NodeAnswer, NodeBrowser, NodeCall, NodeLinks } from "./elsewhere/links.ts"
export type { PersonTab, TabNode, TabWaits } from "./relay/waiting.ts"
export {
  type BrowserService,
  type BrowserServiceOptions,
  type BrowserServiceStatus,
  createBrowserService,
} from "./service.ts"
export type { HandEvent, TakeoverState, Viewer } from "./takeover/contract.ts"
export type { TakeoverTab } from "./takeover/operations.ts"
export type { Takeover } from "./takeover/takeover.ts"
export type { TakeoverAsk, TakeoverWaits } from "./takeover/waiting.ts"
export type { BrowserToolInput } from "./tool.ts"
