// The one error class and the one table of every error the product can raise.
// A code that is not in the table does not compile; docs/reference/errors.md is generated from it.

interface ErrorKind {
  /** HTTP status on every HTTP surface. */
  status: number
  /** What it means, one sentence, for the generated reference. */
  meaning: string
}

export const errorTable = {
  // What a caller sent
  "bad-request": {
    status: 400,
    meaning: "The request is malformed or a field has a wrong value; the message names it.",
  },
  "bad-json": { status: 400, meaning: "The body is not valid JSON, or is nested too deeply." },
  unauthorized: { status: 401, meaning: "The secret is missing or wrong." },
  forbidden: { status: 403, meaning: "The caller is known but may not do this." },
  "scope-missing": { status: 403, meaning: "The token is right but has not the scope that this route needs." },
  "forbidden-origin": {
    status: 403,
    meaning:
      "The request came from a web page or under a foreign host name; such requests are refused on loopback too.",
  },
  "page-insecure": {
    status: 403,
    meaning: "The page was asked for over plain HTTP from another machine; it needs TLS in front, or an explicit key.",
  },
  "not-found": { status: 404, meaning: "There is nothing under this path or id." },
  "method-not-allowed": { status: 405, meaning: "The path exists but not with this method." },
  "request-timeout": { status: 408, meaning: "The body did not arrive in time." },
  conflict: { status: 409, meaning: "The request does not fit the present state." },
  "payload-too-large": { status: 413, meaning: "The body is larger than the limit." },
  "unsupported-media-type": { status: 415, meaning: "The body must be sent as application/json." },
  "too-many-failures": { status: 429, meaning: "Too many wrong secrets from this address; wait and try again." },
  // What we could not do
  internal: { status: 500, meaning: "An unexpected failure; the log has the details." },
  "library-missing": { status: 501, meaning: "The feature needs the automation library, which is not installed." },
  "not-ready": { status: 503, meaning: "The gateway is starting or stopping; try again shortly." },
  "storage-full": { status: 503, meaning: "The disk is full; nothing was accepted. Try again when there is space." },
  "storage-failed": { status: 503, meaning: "The store could not be written; nothing was accepted." },
  "storage-handles": {
    status: 503,
    meaning: "The process may open no more files or connections for now. It goes on by itself when some are closed.",
  },
  "storage-damaged": {
    status: 503,
    meaning: "The store is damaged; the message names what is. Nothing is accepted until it is repaired.",
  },
  "storage-lost": {
    status: 503,
    meaning: "The state folder, its lock or its store was removed or replaced under the running gateway, which stops.",
  },
  "storage-missing": {
    status: 409,
    meaning: "The state folder was used before, but its store is missing or empty; nothing is begun anew unasked.",
  },
  "storage-newer": { status: 409, meaning: "The store was made by a newer version of the program." },
  "secret-unavailable": {
    status: 503,
    meaning: "A secret could not be had: its key is gone, or the password manager did not give it.",
  },
  timeout: { status: 504, meaning: "An operation took longer than its limit." },
  aborted: { status: 499, meaning: "The operation was stopped by its caller." },
  // Starting and running
  "config-invalid": { status: 400, meaning: "The configuration has errors; each is named with key, value and line." },
  "config-emptied": {
    status: 409,
    meaning:
      "The configuration is gone or says nothing any more, though it did before; nothing is started without it unasked.",
  },
  "config-write-refused": { status: 403, meaning: "This configuration key cannot be written this way." },
  "already-running": { status: 409, meaning: "Another gateway owns this state folder." },
  "port-in-use": { status: 409, meaning: "A port that the gateway needs is taken by another program." },
  "gateway-unreachable": { status: 503, meaning: "No running gateway was found for this state folder." },
  // Backups
  "backup-damaged": { status: 422, meaning: "The archive is cut, has been changed, or is no backup of svc." },
  "backup-newer": { status: 409, meaning: "The backup was made by a newer release than this one." },
  "backup-failed": { status: 500, meaning: "A backup could not be made; the message says why." },
  // Service and update
  "service-failed": { status: 500, meaning: "The service could not be set up or did not start; the message says why." },
  "service-unsupported": {
    status: 501,
    meaning: "This machine runs no manager of services that svc can use, or it cannot be reached.",
  },
  "update-failed": {
    status: 500,
    meaning: "The new version did not pass one of the steps; the version before is in place, with its data.",
  },
  "update-refused": { status: 409, meaning: "What is installed here cannot be updated this way; nothing was changed." },
  // Browser
  "browser-disabled": { status: 503, meaning: "Browser control is switched off (browser.enabled)." },
  "browser-not-found": { status: 503, meaning: "No browser that speaks CDP was found on this machine." },
  "browser-not-running": { status: 409, meaning: "The browser of this profile is not running." },
  "browser-start-failed": { status: 503, meaning: "The browser did not start or did not answer in time." },
  "browser-lost": { status: 503, meaning: "The connection to the browser was lost during the operation." },
  "browser-unreachable": {
    status: 503,
    meaning: "The browser at a remote address does not answer, or refuses the credentials.",
  },
  "relay-not-connected": {
    status: 503,
    meaning: "No browser extension is connected: no tab of the person's own browser is attached.",
  },
  "relay-no-tab": { status: 409, meaning: "The tab is not attached; only the person can attach one, by the button." },
  "relay-refused": { status: 403, meaning: "The browser extension does not let this be done in a person's tab." },
  "profile-not-found": { status: 404, meaning: "There is no browser profile of this name." },
  "profile-unsupported": { status: 409, meaning: "This kind of profile cannot do this." },
  "port-range-full": { status: 507, meaning: "No free CDP port is left in the range." },
  "tab-taken": { status: 409, meaning: "A person has taken this tab over and has not given it back yet." },
  "tab-gone": {
    status: 410,
    meaning:
      "The tab of this link is gone, and its page can be opened again: by the button, or `again` in the request.",
  },
  "tab-not-found": { status: 404, meaning: "No tab has this targetId." },
  "tab-ambiguous": { status: 409, meaning: "Several tabs match this targetId prefix." },
  "tab-crashed": { status: 409, meaning: "The page of this tab crashed." },
  "dialog-open": { status: 409, meaning: "A dialog is open in this tab and blocks it." },
  "selector-unsupported": { status: 400, meaning: "Actions take refs from a snapshot, not CSS selectors." },
  "ref-not-found": { status: 404, meaning: "The ref is not one of the last snapshot of this tab." },
  "stale-ref": {
    status: 409,
    meaning: "The element of this ref is gone, or the page has navigated since the snapshot.",
  },
  "not-visible": { status: 409, meaning: "The element is not visible." },
  "not-editable": { status: 409, meaning: "The element does not take text." },
  "text-refused": { status: 409, meaning: "The field holds something else than what was typed into it." },
  disabled: { status: 409, meaning: "The element is disabled." },
  covered: { status: 409, meaning: "Another element covers the point to be clicked." },
  "not-stable": { status: 409, meaning: "The element keeps moving." },
  "strict-mode": {
    status: 409,
    meaning: "Strict mode violation: a selector matches several elements where one is needed.",
  },
  "script-stopped": {
    status: 409,
    meaning: "A script for the browser stopped; the message says at which step and why.",
  },
  "navigation-refused": { status: 400, meaning: "This URL may not be opened." },
  "navigation-failed": { status: 502, meaning: "The page could not be loaded." },
  "evaluate-disabled": { status: 403, meaning: "Evaluation is switched off (browser.evaluateEnabled)." },
  "evaluate-failed": { status: 400, meaning: "The page's own code raised an error." },
  // Bounds
  "budget-exceeded": {
    status: 402,
    meaning:
      "A cap on spending leaves no room for this call; an owner may allow more, or it begins anew with its time.",
  },
  "turn-limit": {
    status: 422,
    meaning: "A turn took more steps or tool calls than it may, or made the same call over and over.",
  },
  // Nodes
  "node-not-found": { status: 404, meaning: "No node of this name or id is paired with this gateway." },
  "node-ambiguous": { status: 409, meaning: "Several nodes could be meant; name one." },
  "node-not-connected": { status: 503, meaning: "The node is paired but not connected, or offers no browser now." },
  "node-lost": {
    status: 503,
    meaning: "The connection to the node was lost during the operation, which may have been done.",
  },
  "node-refused": { status: 403, meaning: "The node does not let the gateway do this (nodeHost.*)." },
  "node-failed": {
    status: 502,
    meaning: "The node, or the way to it, has failed: it broke the protocol, or a file did not come through.",
  },
  // Sandbox
  "sandbox-unavailable": {
    status: 503,
    meaning:
      "The sandbox that this needs does not work on this machine; the message says why, the hint how to mend it.",
  },
  // Agent, models, tools
  "model-not-allowed": { status: 400, meaning: "The model is not in agents.defaults.models." },
  "model-unknown": { status: 400, meaning: "No configured provider has this model." },
  "model-failed": { status: 502, meaning: "The model provider failed after all retries." },
  "model-key-missing": { status: 400, meaning: "The provider has no key, in the configuration or the environment." },
  "tool-failed": { status: 500, meaning: "A tool could not do what was asked." },
  "mcp-unavailable": {
    status: 503,
    meaning:
      "A configured MCP server could not be started or reached, or has broken the protocol; the message says why.",
  },
  "tunnel-failed": {
    status: 502,
    meaning: "The tunnel to the Gmail push listener could not be opened or closed; the message says why.",
  },
  "turn-not-found": { status: 404, meaning: "There is no run of this id." },
  // Chat
  "channel-unknown": { status: 400, meaning: "There is no channel of this name, or it is not configured." },
  "target-invalid": { status: 400, meaning: "The target is not a chat id or @name." },
  "no-route": {
    status: 409,
    meaning:
      "There is no chat to deliver to: nobody has written to the bot yet, or who did last is shut out, and no target was given.",
  },
  "pairing-not-found": { status: 404, meaning: "The pairing code is unknown or has lapsed." },
  "platform-refused": { status: 502, meaning: "The chat platform refused the call." },
  "platform-unreachable": { status: 502, meaning: "The chat platform could not be reached." },
  "media-refused": { status: 400, meaning: "The media is too large, of a wrong kind, or outside the media root." },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorTable

interface ErrorOptions {
  /** The next step for the person who reads it. */
  hint?: string
  cause?: unknown
  /** Overrides the status of the table, for the rare code that is used with two. */
  status?: number
  /** Seconds, sent as Retry-After. */
  retryAfterSeconds?: number
  /** Others have written the message, or a part of it: a model is shown it inside a boundary. */
  isForeign?: boolean
}

export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly hint: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly isForeign: boolean

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "AppError"
    this.code = code
    this.status = options.status ?? errorTable[code].status
    this.hint = options.hint
    this.retryAfterSeconds = options.retryAfterSeconds
    this.isForeign = options.isForeign ?? false
  }
}

/** The body of an error on every HTTP surface. */
export interface ErrorBody {
  ok: false
  error: { code: ErrorCode; message: string; hint?: string }
}

export function toErrorBody(error: AppError): ErrorBody {
  return {
    ok: false,
    error: { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) },
  }
}

/** What a disk says that does not take a file. */
const diskErrors: Partial<Record<string, ErrorCode>> = {
  ENOSPC: "storage-full",
  EDQUOT: "storage-full",
  EIO: "storage-failed",
  EROFS: "storage-failed",
  EFBIG: "storage-failed",
}

/**
 * Anything that was thrown, as an AppError; what we did not foresee becomes `internal` and keeps its cause. A disk that
 * does not take a file is foreseen: whoever asked may come again.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const { code = "" } = (thrown ?? {}) as { code?: unknown }
  const disk = typeof code === "string" ? diskErrors[code] : undefined
  if (disk !== undefined) {
    return new AppError(disk, `The disk does not take what was to be written (${String(code)})`, {
      cause: thrown,
      retryAfterSeconds: 10,
      hint: "Check the state folder's file system and the space that is left there; then try again",
    })
  }
  return new AppError("internal", "An unexpected error occurred", {
    cause: thrown,
    hint: "The gateway's log has the details: svc logs",
  })
}

/** The message of anything that was thrown, with its causes, in one line. */
export function describeError(thrown: unknown): string {
  const parts: string[] = []
  let current: unknown = thrown
  while (current !== undefined && current !== null && parts.length < 5) {
    const message = current instanceof Error ? current.message : String(current)
    if (message !== "" && !parts.includes(message)) parts.push(message)
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join(": ")
}
