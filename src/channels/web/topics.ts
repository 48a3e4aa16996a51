// What the page's event stream tells of its chat: messages that came or changed, and answers while they are written.
import type { Store } from "../../store/index.ts"
import { messagesByIds } from "./store.ts"

export const messageTopic = "chat"
export const draftTopic = "draft"

export function webTopics(store: Store) {
  return [
    {
      name: messageTopic,
      scope: "admin" as const,
      tables: [{ table: "web_message" as const, id: "row.id", on: ["insert", "update"] as const }],
      read: (ids: readonly (number | string)[]) => messagesByIds(store, ids.map(Number)),
    },
    // Whoever has missed some asks for the whole of it: they are not kept for later.
    { name: draftTopic, scope: "admin" as const, isPassing: true },
  ]
}
