// The routes of `/api/memory`.
import { memoryEndpoints } from "./endpoints/memory.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Route, about, given } from "./route.ts"

export const memoryRoutes: readonly Route[] = routesOf(memoryEndpoints, {
  "GET /api/memory/search": async ({ actions }, { query }) => ({ body: await actions.memory.search(given(query)) }),
  "GET /api/memory/notes": async ({ actions }, { query }) => ({ body: await actions.memory.list(query.agent) }),
  // As it is: it is edited and saved again.
  "GET /api/memory/note": ({ actions }, { query }) => ({
    body: actions.memory.read(query.name, query.agent),
    shows: "whole",
  }),
  async "POST /api/memory/note"({ actions }, { body: { agent, ...note } }, context) {
    about(context, agent, note.name)
    return { body: await actions.memory.save(note, agent) }
  },
  async "POST /api/memory/add"({ actions }, { body: { agent, ...entry } }, context) {
    about(context, agent, entry.name)
    return { body: await actions.memory.add(given(entry), agent) }
  },
})
