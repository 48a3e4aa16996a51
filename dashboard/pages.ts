// The pages, in the order of the menu. A page is here when what it shows stands. The first comes with the page itself;
// the others are one file: of many small ones a tenth would be what binds them together.
import type { ComponentType } from "preact"
import Now from "./pages/now.tsx"
import type { IconName } from "./ui/icons.tsx"

export interface Page {
  /** First part of the address, and the name of its icon. */
  name: IconName
  title: string
  /** What a sign-in needs to see it. */
  scope: string
  load: () => Promise<ComponentType>
}

const others = () => import("./pages/others.ts")
type Other = keyof Awaited<ReturnType<typeof others>>["others"]

const other = (name: Other, title: string, scope = "admin"): Page => ({
  name,
  title,
  scope,
  load: async () => (await others()).others[name],
})

export const pages: readonly Page[] = [
  { name: "now", title: "Now", scope: "status", load: async () => Now },
  other("chat", "Chat"),
  other("runs", "Runs"),
  other("webhooks", "Webhooks"),
  other("messages", "Messages out"),
  other("browser", "Browser", "browser"),
  other("people", "People"),
  other("approvals", "Approvals"),
  other("schedules", "Schedules"),
  other("sessions", "Sessions"),
  other("memory", "Memory"),
  other("skills", "Skills"),
  other("usage", "Usage", "status"),
  other("logs", "Logs"),
  other("settings", "Settings"),
]
