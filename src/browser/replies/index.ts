// Every answer of the control service by the name that it has in the OpenAPI document. The wire types in contract.ts are
// made from these schemas.
import { z } from "zod"
import * as debug from "./debug.ts"
import { explanation } from "./explain.ts"
import * as extension from "./extension.ts"
import * as page from "./page.ts"
import * as profiles from "./profiles.ts"

export const replies = {
  ProfileStatus: profiles.profileStatus,
  TabOverrides: profiles.tabOverrides,
  StartReply: profiles.startReply,
  StopReply: profiles.stopReply,
  ProfileInfo: profiles.profileInfo,
  ProfileList: profiles.profileList,
  CreatedProfile: profiles.createdProfile,
  DeletedProfile: profiles.deletedProfile,
  ResetReply: profiles.resetReply,
  ExtensionStatus: extension.extensionStatus,
  ExtensionInstalled: extension.extensionInstalled,
  ExtensionPaired: extension.extensionPaired,
  Explanation: explanation,
  TabInfo: page.tabInfo,
  TabList: page.tabList,
  TabActionReply: page.tabAction,
  Done: page.done,
  DialogInfo: page.dialogInfo,
  PageReply: page.pageReply,
  FreshSnapshot: page.freshSnapshot,
  ActReply: page.actReply,
  RunReply: page.runReply,
  ActAnswer: page.actAnswer,
  KeptScript: page.keptScript,
  ScriptList: page.scriptList,
  RemovedScript: page.removedScript,
  NavigateReply: page.navigateReply,
  DialogReply: page.dialogReply,
  SnapshotRef: page.snapshotRef,
  SnapshotReply: page.snapshotReply,
  AriaReply: page.ariaReply,
  SnapshotAnswer: page.snapshotAnswer,
  ScreenshotReply: page.screenshotReply,
  PdfReply: page.pdfReply,
  DownloadReply: page.downloadReply,
  DownloadsReply: page.downloadsReply,
  ConsoleMessage: debug.consoleMessage,
  ConsoleReply: debug.consoleReply,
  PageError: debug.pageError,
  ErrorsReply: debug.errorsReply,
  RequestRecord: debug.requestRecord,
  RequestsReply: debug.requestsReply,
  BodyReply: debug.bodyReply,
  Cookie: debug.cookie,
  CookiesReply: debug.cookiesReply,
  StorageReply: debug.storageReply,
  TraceReply: debug.traceReply,
  JsonSchema: z.record(z.string(), z.unknown()).describe("A JSON schema, draft 2020-12."),
  OpenApiDocument: z.record(z.string(), z.unknown()).describe("This document."),
} as const

export type ReplyName = keyof typeof replies
export type Reply<Name extends ReplyName> = z.infer<(typeof replies)[Name]>
