// The pages, in the order of the menu. A page is here when what it shows stands; each is a file of its own that is
// fetched when it is first opened.
import type { ComponentType } from "preact"
import type { IconName } from "./ui/icons.tsx"

export interface Page {
  /** First part of the address. */
  name: string
  title: string
  icon: IconName
  /** What a sign-in needs to see it. */
  scope: string
  load: () => Promise<{ default: ComponentType }>
}

export const pages: readonly Page[] = [
  { name: "now", title: "Now", icon: "now", scope: "status", load: () => import("./pages/now.tsx") },
  { name: "chat", title: "Chat", icon: "chat", scope: "admin", load: () => import("./pages/chat/chat.tsx") },
  { name: "runs", title: "Runs", icon: "runs", scope: "admin", load: () => import("./pages/runs.tsx") },
  { name: "webhooks", title: "Webhooks", icon: "hooks", scope: "admin", load: () => import("./pages/webhooks.tsx") },
  { name: "messages", title: "Messages out", icon: "out", scope: "admin", load: () => import("./pages/messages.tsx") },
  { name: "browser", title: "Browser", icon: "browser", scope: "browser", load: () => import("./pages/browser.tsx") },
  { name: "people", title: "People", icon: "people", scope: "admin", load: () => import("./pages/people.tsx") },
  {
    name: "approvals",
    title: "Approvals",
    icon: "approvals",
    scope: "admin",
    load: () => import("./pages/approvals.tsx"),
  },
  { name: "sessions", title: "Sessions", icon: "sessions", scope: "admin", load: () => import("./pages/sessions.tsx") },
  { name: "skills", title: "Skills", icon: "skills", scope: "admin", load: () => import("./pages/skills.tsx") },
  { name: "usage", title: "Usage", icon: "usage", scope: "status", load: () => import("./pages/usage.tsx") },
  { name: "logs", title: "Logs", icon: "logs", scope: "admin", load: () => import("./pages/logs.tsx") },
  { name: "settings", title: "Settings", icon: "settings", scope: "admin", load: () => import("./pages/settings.tsx") },
]
