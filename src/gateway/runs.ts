// The routes of `/api/runs`.
import { AppError } from "../kernel/index.ts"
import { runEndpoints } from "./endpoints/runs.ts"
import { routesOf } from "./endpoint-routes.ts"
import type { Route } from "./route.ts"
import { listRuns, readRun } from "./store.ts"

export const runRoutes: readonly Route[] = routesOf(runEndpoints, {
  "GET /api/runs": async ({ store }, { query }) => ({ body: await listRuns(store, query) }),
  "GET /api/runs/:runId": async ({ store }, { params }) => ({ body: await readRun(store, params.runId) }),
  async "POST /api/runs/:runId/stop"({ store, actions }, { params }) {
    const run = await readRun(store, params.runId)
    if (run.state !== "ready" && run.state !== "running") {
      throw new AppError("conflict", `This run is over: it is ${run.state}`)
    }
    await actions.stopRun({ runId: run.runId, laneKey: run.session })
    return { body: {} }
  },
})
