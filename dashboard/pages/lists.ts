// Pages that are long lists, in one file: whoever looks at one mostly goes on to another.
import approvals from "./approvals.tsx"
import logs from "./logs.tsx"
import messages from "./messages.tsx"
import runs from "./runs.tsx"
import sessions from "./sessions.tsx"
import webhooks from "./webhooks.tsx"

export const lists = { approvals, logs, messages, runs, sessions, webhooks }
