// The pages, in the order of the menu. A page is here when what it shows stands. The first comes with the page itself, the
// others in three files: one for each page would be a tenth more, for what binds them together.
import type { ComponentType } from "preact"
import { askEarly } from "./api.ts"
import Now from "./pages/now.tsx"
import { place } from "./router.ts"
import { may } from "./session.ts"
import type { IconName } from "./ui/icons.tsx"
import { signal } from "./ui/signals.ts"

/** The files that pages come in. */
const chat = async () => ({ chat: (await import("./pages/chat/chat.tsx")).default })
const lists = async () => (await import("./pages/lists.ts")).lists
const things = async () => (await import("./pages/things.ts")).things

export interface Page {
  /** First part of the address, and the name of its icon. */
  name: IconName
  title: string
  /** Its file. */
  load: () => Promise<Contents>
  /** What a sign-in needs to see it. */
  scope: string
}

type Contents = { [Name in IconName]?: ComponentType }

const loaded = signal<Contents>({ now: Now })

/** Undefined as long as its file is not loaded. */
export const contentOf = ({ name }: Page): ComponentType | undefined => loaded.current[name]

export async function loadPage({ load }: Page): Promise<void> {
  const contents = await load()
  // Others may have come meanwhile.
  loaded.current = { ...loaded.current, ...contents }
}

/** What pages ask for at once; a page that is missing here, or has a filter in its address, only shows it a little later. */
const first: Record<string, string> = {
  now: "status runs?state=running runs?state=ready&limit=20 pause",
  runs: "runs?limit=100",
  webhooks: "hooks?limit=100",
  messages: "deliveries?limit=100",
  approvals: "approvals?limit=100",
  sessions: "sessions?limit=50",
  "settings/audit": "audit?since=90d&limit=100",
}

/** The page of the address and what it asks for, both at once, before anything is drawn. Throws what loading it throws. */
export async function fetchFirst(): Promise<void> {
  const { path, query } = place.current
  const [name = "now"] = path
  const page = pages.find((one) => one.name === name)
  if (may("admin") && query.size === 0) first[path.join("/") || name]?.split(" ").forEach(askEarly)
  if (page && !contentOf(page)) await loadPage(page)
}

const page = (name: IconName, load: Page["load"], scope = "admin", title?: string): Page => ({
  name,
  title: title ?? name.charAt(0).toUpperCase() + name.slice(1),
  load,
  scope,
})

export const pages: readonly Page[] = [
  page("now", async () => ({}), "status"),
  page("chat", chat),
  page("runs", lists),
  page("webhooks", lists),
  page("messages", lists, "admin", "Messages out"),
  page("browser", things, "browser"),
  page("people", things),
  page("approvals", lists),
  page("schedules", things),
  page("sessions", lists),
  page("memory", things),
  page("skills", things),
  page("usage", things, "status"),
  page("logs", lists),
  page("settings", things),
]
