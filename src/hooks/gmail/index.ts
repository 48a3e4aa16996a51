// The only door of the mail watch. The command line takes cli.ts alone, which loads the rest when needed.
export { googleRoots } from "./contract.ts"
export type { GmailBatch, GmailMessage, GmailState, GmailStatus, GmailView, GoogleRoots } from "./contract.ts"
export { batchUrl, createBatchPoster } from "./post-batch.ts"
export { createTailscale } from "./tunnel.ts"
export { createGmailWatch } from "./watch.ts"
export type { GmailWatch, GmailWatchOptions } from "./watch.ts"
