// The pages, in the order of the menu. A page is here when what it shows stands. The first comes with the page itself;
// the others are one file: of many small ones a tenth would be what binds them together.
import type { ComponentType } from "preact"
import Now from "./pages/now.tsx"
import type { others as known } from "./pages/others.ts"
import { signal } from "./ui/signals.ts"

type Others = typeof known

export interface Page {
  /** First part of the address, and the name of its icon. */
  name: "now" | keyof Others
  title: string
  /** What a sign-in needs to see it. */
  scope: string
}

const others = signal<Others | undefined>(undefined)

export async function loadOthers(): Promise<void> {
  others.value = (await import("./pages/others.ts")).others
}

/** Whether an address leads to one of the others. */
export const isOther = (name: string | undefined): boolean => name !== undefined && name !== "now"

/** Undefined as long as the others are not loaded. */
export const contentOf = ({ name }: Page): ComponentType | undefined => (name === "now" ? Now : others.value?.[name])

const page = (name: Page["name"], title: string, scope = "admin"): Page => ({ name, title, scope })

export const pages: readonly Page[] = [
  page("now", "Now", "status"),
  page("chat", "Chat"),
  page("runs", "Runs"),
  page("webhooks", "Webhooks"),
  page("messages", "Messages out"),
  page("browser", "Browser", "browser"),
  page("people", "People"),
  page("approvals", "Approvals"),
  page("schedules", "Schedules"),
  page("sessions", "Sessions"),
  page("memory", "Memory"),
  page("skills", "Skills"),
  page("usage", "Usage", "status"),
  page("logs", "Logs"),
  page("settings", "Settings"),
]
