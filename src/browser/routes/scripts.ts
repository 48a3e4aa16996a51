// Kept scripts: listed, shown, removed. They are run, and kept, by act `run`.
import { z } from "zod"
import { word } from "../requests/fields.ts"
import { route, type Route } from "./route.ts"

const named = z.object({ name: word })

export const scriptRoutes: Route[] = [
  route("GET", "/scripts", {
    summary: "The kept scripts",
    reply: "ScriptList",
    run: async (_caller, _request, core) => ({ scripts: await core.scripts() }),
  }),
  route("GET", "/scripts/:name", {
    summary: "One kept script",
    request: named,
    reply: "KeptScript",
    errors: ["not-found"],
    run: (_caller, { name }, core) => core.readScript(name),
  }),
  route("DELETE", "/scripts/:name", {
    summary: "Removes a kept script",
    request: named,
    reply: "RemovedScript",
    errors: ["not-found"],
    run: (_caller, { name }, core) => core.removeScript(name),
  }),
]
