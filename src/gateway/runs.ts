// The routes of `/api/runs`.
import { AppError } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import { runEndpoints } from "./endpoints/runs.ts"
import { routesOf } from "./endpoint-routes.ts"
import type { Route } from "./route.ts"
import { listRuns, readRun } from "./store.ts"
import { readStory } from "./story.ts"

export const runRoutes: readonly Route[] = routesOf(runEndpoints, {
  "GET /api/runs": async ({ store }, { query }) => ({ body: await listRuns(store, query) }),
  "GET /api/runs/:runId": async ({ store }, { params }) => ({ body: await readRun(store, params.runId) }),
  "GET /api/runs/:runId/story": ({ store }, { params }) => ({ body: readStory(store, params.runId) }),
  async "POST /api/runs/:runId/stop"({ store, actions }, { params }) {
    const run = await readRun(store, params.runId)
    if (run.state !== "ready" && run.state !== "running") {
      throw new AppError("conflict", `This run is over: it is ${run.state}`)
    }
    await actions.stopRun({ runId: run.runId, laneKey: run.session })
    return { body: {} }
  },
  async "POST /api/runs/:runId/again"({ store, actions }, { params, body }) {
    const { runId } = await readRun(store, params.runId)
    return { body: await actions.runAgain({ runId, ...body }) }
  },
})

/** Raster alone: what could hold a script is shown by nobody. */
const pictureTypes = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"])

/** `/api/runs/:runId/pictures/:n`: the first picture in the result of a step. No JSON, so no endpoint. */
export function readPicture(store: Store, runId: string, n: number): Response {
  const row = store.handle
    .prepare("select step.data from step join job on job.id = step.job_id where job.run_id = ? and step.n = ?")
    .get(runId, n)
  const { content } = JSON.parse(String(row?.["data"] ?? "{}")) as { content?: unknown }
  const picture = (Array.isArray(content) ? content : []).find(({ type }: { type?: unknown }) => type === "image") as
    | { mediaType: string; data: string }
    | undefined
  if (!picture || !pictureTypes.has(picture.mediaType)) {
    throw new AppError("not-found", "This step has brought no picture")
  }
  return new Response(Buffer.from(picture.data, "base64"), { headers: { "content-type": picture.mediaType } })
}
