// Wire types of the control service: what its answers look like, made from the schemas in replies/. Types only, so that
// the command line can use them without loading the schemas. Errors have the one error body of all surfaces.
import type { Reply } from "./replies/index.ts"

export type { Reply, ReplyName } from "./replies/index.ts"

export type ProfileStatus = Reply<"ProfileStatus">
export type TabOverrides = Reply<"TabOverrides">
export type ProfileInfo = Reply<"ProfileInfo">
export type CreatedProfile = Reply<"CreatedProfile">
export type DeletedProfile = Reply<"DeletedProfile">
export type ResetReply = Reply<"ResetReply">
export type ExtensionStatus = Reply<"ExtensionStatus">
export type ExtensionInstalled = Reply<"ExtensionInstalled">
export type ExtensionPaired = Reply<"ExtensionPaired">
export type TabInfo = Reply<"TabInfo">
export type TabActionReply = Reply<"TabActionReply">
export type DialogInfo = Reply<"DialogInfo">
export type PageReply = Reply<"PageReply">
export type ActReply = Reply<"ActReply">
export type RunReply = Reply<"RunReply">
export type NavigateReply = Reply<"NavigateReply">
/** What the page shows now, as text: in the answer of actions that were asked for it. */
export type FreshSnapshot = Reply<"FreshSnapshot">
export type SnapshotReply = Reply<"SnapshotReply">
export type AriaReply = Reply<"AriaReply">
export type Explanation = Reply<"Explanation">
export type ScreenshotReply = Reply<"ScreenshotReply">
