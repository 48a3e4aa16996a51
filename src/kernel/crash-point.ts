// Named places where a test may kill the process. The shipped program passes `noCrash`; only the test
// build of the gateway passes a function that looks at SVC_CRASH_AT.

export type CrashLabel =
  | "migrate.statement"
  | "migrate.beforeCommit"
  | "migrate.committed"
  | "ingest.beforeCommit"
  | "ingest.committed"
  | "turn.beforeModel"
  | "turn.inModel"
  | "turn.afterModel"
  | "turn.beforeTool"
  | "turn.afterTool"
  | "turn.beforeCommit"
  | "outbox.committed"
  | "outbox.sending"
  | "outbox.answered"
  | "outbox.sent"
  | "outbox.recorded"
  | "poll.fetched"
  | "poll.committed"

export type CrashPoint = (label: CrashLabel) => void

export const noCrash: CrashPoint = () => undefined
