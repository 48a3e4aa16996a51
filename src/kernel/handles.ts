// Handles (open files and connections) are a resource of the whole process, like the disk: when they run out, nothing
// that was being done is to blame, and everything goes on when some are free again.
import { readFileSync } from "node:fs"
import { AppError } from "./errors.ts"

const codes = new Set(["EMFILE", "ENFILE"])

/** Whether a lack of handles is at the bottom of an error. */
export function isOutOfHandles(error: unknown): boolean {
  return hasCause(error, (code) => codes.has(code))
}

const diskCodes = new Set(["EIO", "EROFS", "ENOSPC", "EDQUOT", "ESTALE"])

/** Whether a disk that does not work (just now) is at the bottom of an error. */
export function isDiskFailure(error: unknown): boolean {
  return hasCause(error, (code) => diskCodes.has(code))
}

/** An error whose cause is a lack of handles, as what it is: a failure of the machine's. Anything else as it is. */
export function explainHandles(error: unknown): unknown {
  if (error instanceof AppError && error.code === "storage-handles") return error
  if (!isOutOfHandles(error)) return error
  return new AppError("storage-handles", "No more files or connections can be opened", {
    cause: error,
    retryAfterSeconds: 5,
    hint: "Raise the limit (ulimit -n, or LimitNOFILE= of the service); the gateway goes on by itself",
  })
}

/** Looks through causes, and through the addresses that were tried one after another. */
export function hasCause(error: unknown, matches: (code: string) => boolean, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 8) return false
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  if (typeof code === "string" && matches(code)) return true
  if (Array.isArray(errors) && errors.some((each) => hasCause(each, matches, depth + 1))) return true
  return hasCause(cause, matches, depth + 1)
}

/** What of the limit is kept for which use. */
export interface HandlePlan {
  /** Undefined where it cannot be told. */
  limit: number | undefined
  /** Connections from outside that each listener takes at once; further ones are closed. */
  perListener: number
  /** What to tell the operator; undefined when there are enough. */
  warning: string | undefined
}

/** The store, logs, files that come and go, and what a runtime opens for itself. */
const forFiles = 64
/** Calls to the platform, models, webhooks' answers. */
const forOutgoing = 64
/** Pipes and sockets of browsers. */
const forBrowser = 64
/** The gateway, the browser's control service, the chat webhook, mail pushes. */
const listeners = 4
const leastPerListener = 8
/** More at once than any of them is meant for. */
const mostPerListener = 4_096
/** Below that a busy hour meets the limit. */
const comfortable = 1_024

/** Of the process's limit of open files, as it is at the start. */
export function planHandles(limit: number | undefined): HandlePlan {
  const spare = (limit ?? Infinity) - forFiles - forOutgoing - forBrowser
  const perListener = Math.floor(Math.min(Math.max(spare / listeners, leastPerListener), mostPerListener))
  const warning =
    limit === undefined || limit >= comfortable
      ? undefined
      : `This process may open ${limit} files and connections; ${comfortable} or more are wanted. ` +
        `Raise it before the start: ulimit -n 4096 (a systemd service: LimitNOFILE=4096)`
  return { limit, perListener, warning }
}

/** The soft limit, which Node.js raises to the hard one when it starts. */
export function readHandleLimit(
  read: () => string = () => readFileSync("/proc/self/limits", "utf8"),
): number | undefined {
  try {
    const soft = /^Max open files\s+(\S+)/m.exec(read())?.[1]
    const limit = Number(soft)
    return Number.isSafeInteger(limit) && limit > 0 ? limit : undefined
  } catch (error) {
    // Other systems have no such file; nothing is capped by a limit that is not known.
    if (error instanceof Error && "code" in error) return undefined
    throw error
  }
}
