// The mail watch's own words: what it is configured with, what it hands on, what it says of itself.

/** The part of `hooks.gmail` that the watch works from. Secrets are plain here: they come from the configuration. */
export interface GmailView {
  /** The mail account; the watch is off without one. */
  account?: string | undefined
  /** Name or id of the label. */
  label: string
  /** `projects/<project>/topics/<topic>`. */
  topic?: string | undefined
  /** Name of the subscription in the topic's project. */
  subscription: string
  pushToken?: string | undefined
  includeBody: boolean
  /** Bytes of text of one mail at most. */
  maxBytes: number
  renewEveryMinutes: number
  serve: { bind: string; port: number; path: string }
  tailscale?: { mode: "off" | "serve" | "funnel"; path?: string | undefined; target?: string | undefined } | undefined
}

export interface GmailMessage {
  id: string
  threadId: string
  from: string
  subject: string
  snippet: string
  /** Empty when bodies are not included. */
  body: string
  /** ISO 8601. */
  date: string
  labels: string[]
}

/** One delivery for the mapping `gmail`; the payload is `{messages}`. */
export interface GmailBatch {
  /** The same for the same mails, also after a crash between the delivery and our note of it. */
  deliveryId: string
  account: string
  payload: { messages: GmailMessage[] }
}

export type GmailState =
  /** No account is configured. */
  | "off"
  /** Stopped by `svc webhooks gmail stop`, until it is set up or run again. */
  | "stopped"
  | "starting"
  | "watching"
  /** Google refuses the stored sign-in: the person has to sign in again. */
  | "signed-out"
  /** Something fails and is being retried. */
  | "failing"

export interface GmailStatus {
  state: GmailState
  account?: string
  label?: string
  topic?: string
  listening?: { bind: string; port: number; path: string }
  /** The tunnel's address, once it is open. */
  tunnel?: string
  historyId?: string
  /** ISO 8601. */
  watchExpiresAt?: string
  renewedAt?: string
  lastPushAt?: string
  lastSyncAt?: string
  /** Mails that are planned and not yet handed on. */
  waiting?: number
  delivered?: number
  lastError?: string
}

/** Where the services are; other addresses in tests. */
export interface GoogleRoots {
  gmail: string
  /** Consent page. */
  accounts: string
  /** Token endpoint. */
  oauth: string
  pubsub: string
  iam: string
  serviceUsage: string
}

export const googleRoots: GoogleRoots = {
  gmail: "https://gmail.googleapis.com",
  accounts: "https://accounts.google.com",
  oauth: "https://oauth2.googleapis.com",
  pubsub: "https://pubsub.googleapis.com",
  iam: "https://iam.googleapis.com",
  serviceUsage: "https://serviceusage.googleapis.com",
}
