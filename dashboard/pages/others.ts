// All pages but the first.
import approvals from "./approvals.tsx"
import chat from "./chat/chat.tsx"
import browser from "./browser.tsx"
import logs from "./logs.tsx"
import memory from "./memory.tsx"
import messages from "./messages.tsx"
import people from "./people.tsx"
import runs from "./runs.tsx"
import schedules from "./schedules.tsx"
import sessions from "./sessions.tsx"
import settings from "./settings.tsx"
import skills from "./skills.tsx"
import usage from "./usage.tsx"
import webhooks from "./webhooks.tsx"

export const others = {
  chat,
  runs,
  webhooks,
  messages,
  browser,
  people,
  approvals,
  schedules,
  sessions,
  memory,
  skills,
  usage,
  logs,
  settings,
}
