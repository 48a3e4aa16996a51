// The routes of `/api/*`, one table. Whoever gets here has shown the gateway token; input is parsed once, by zod,
// and every answer passes the redactor.
import type { Context, Hono } from "hono"
import { z } from "zod"
import { errorResponse } from "../kernel/http/index.ts"
import { AppError, type Redactor, runWithTimeout } from "../kernel/index.ts"
import { accessRoutes } from "./access/routes.ts"
import type { MessageAction, MessageToSend } from "./api.ts"
import { approvalRoutes } from "./approvals.ts"
import { budgetRoutes } from "./budget-routes.ts"
import { browserRoutes, watchBrowser } from "./browser.ts"
import { deliveryRoutes } from "./deliveries.ts"
import { routesOf } from "./endpoint-routes.ts"
import { platformId } from "./endpoints/people.ts"
import { statusEndpoints } from "./endpoints/status.ts"
import { usageEndpoints } from "./endpoints/usage.ts"
import { heldStream } from "./held-stream.ts"
import { hookRoutes } from "./hook-routes.ts"
import { pauseRoutes } from "./pause-routes.ts"
import { logRoutes } from "./logs.ts"
import { chatRoutes, sendFile } from "./page/chat.ts"
import { listen, pageRoutes } from "./page/routes.ts"
import { peopleRoutes } from "./people.ts"
import { readPicture, runRoutes } from "./runs.ts"
import { memoryRoutes } from "./memory.ts"
import { mcpRoutes } from "./mcp-servers.ts"
import { nodeRoutes } from "./nodes.ts"
import { exportSession, sessionRoutes } from "./sessions.ts"
import { secretRoutes } from "./secret-routes.ts"
import { settingsRoutes } from "./settings.ts"
import { takeoverRoutes } from "./takeover/routes.ts"
import { scheduleRoutes } from "./schedule-routes.ts"
import { terminalRoutes } from "./terminal.ts"
import { upkeepRoutes } from "./upkeep.ts"
import { type ApiOptions, type Env, type Route, about, given, parse, parseBody } from "./route.ts"
import { listEvents, listUpdates, readUpdate } from "./store.ts"

const probeTimeoutMs = 20_000

const page = {
  limit: z.coerce.number().int().min(1).max(500).default(50),
  before: z.coerce.number().int().min(1).optional(),
}
const updatesQuery = z.object(page)
const eventsQuery = z.object({ ...page, session: z.string().trim().min(1).max(400).optional() })
const modelTest = z.strictObject({
  model: z.string().trim().min(1).max(300).optional(),
  timeoutSeconds: z.number().min(1).max(3600).optional(),
})
const heartbeatNow = z.strictObject({
  agent: z.string().trim().min(1).max(64).optional(),
  waitSeconds: z.number().min(0).max(600).optional(),
})
const sandboxQuery = z.object({ agent: z.string().trim().toLowerCase().min(1).max(64).optional() })
const sandboxStop = z.strictObject({ id: z.string().trim().min(1).max(64) })
const channelsQuery = z.object({ probe: z.enum(["true", "false", "1", "0"]).default("false") })
const pictureOf = z.object({ runId: z.string().max(100), n: z.coerce.number().int().min(0) })
const deliveryId = z.object({ id: z.coerce.number().int().min(1) })

const name = z.string().trim().min(1).max(200)
const waitSeconds = z.number().min(0).max(60).optional()
const message = z
  .strictObject({
    // The channel that was used last, else the only one.
    channel: name.default("last"),
    target: platformId,
    message: z.string().default(""),
    media: z.string().trim().min(1).optional(),
    account: name.optional(),
    silent: z.boolean().optional(),
    asVoice: z.boolean().optional(),
    replyTo: platformId.optional(),
    threadId: platformId.optional(),
    dryRun: z.boolean().optional(),
    waitSeconds,
  })
  .refine((input) => input.message.trim() !== "" || input.media !== undefined, {
    path: ["message"],
    error: "is required when there is no media",
  })

/** What is done to a message that is there: the same fields, and those of the action. */
const anyMessage = {
  channel: name.default("last"),
  target: platformId,
  messageId: platformId,
  account: name.optional(),
  dryRun: z.boolean().optional(),
  waitSeconds,
}
const messageActions = {
  edit: z.strictObject({ ...anyMessage, message: z.string().refine((text) => text.trim() !== "", "is empty") }),
  delete: z.strictObject(anyMessage),
  react: z.strictObject({ ...anyMessage, emoji: z.string().trim().max(32).default("") }),
}

const routes: readonly Route[] = [
  ...routesOf(statusEndpoints, {
    "GET /api/status": async ({ actions }) => ({ body: await actions.status() }),
    async "POST /api/status/dismiss"({ actions }) {
      await actions.dismissFailures()
      return { body: {} }
    },
  }),
  {
    method: "POST",
    path: "/api/stop",
    async handle({ actions }, context) {
      // After the answer is on its way, and also when its reader went away.
      context.env.outgoing.once("close", () => actions.requestStop())
      return { status: 202, body: {} }
    },
  },
  {
    method: "GET",
    path: "/api/events",
    handle: async ({ store }, context) => ({
      body: await listEvents(store, given(parse(eventsQuery, context.req.query()))),
    }),
  },
  {
    method: "GET",
    path: "/api/updates",
    handle: async ({ store }, context) => ({
      body: await listUpdates(store, given(parse(updatesQuery, context.req.query()))),
    }),
  },
  {
    method: "GET",
    path: "/api/updates/:id",
    handle: async ({ store }, context) => ({
      body: await readUpdate(store, parse(deliveryId, context.req.param()).id),
    }),
  },
  ...routesOf(usageEndpoints, {
    "GET /api/usage": ({ actions }, { query }) => ({ body: actions.usage(given(query)) }),
  }),
  {
    method: "GET",
    path: "/api/heartbeat",
    handle: async ({ actions }) => ({ body: actions.listHeartbeats() }),
  },
  {
    method: "POST",
    path: "/api/heartbeat/now",
    async handle({ actions }, context) {
      const input = given(await parseBody(heartbeatNow, context))
      return { status: 202, body: await actions.runHeartbeat(input, context.req.raw.signal) }
    },
  },
  {
    method: "GET",
    path: "/api/models",
    handle: async ({ actions }) => ({ body: actions.listModels() }),
  },
  {
    method: "POST",
    path: "/api/models/test",
    async handle({ actions }, context) {
      const input = given(await parseBody(modelTest, context))
      return { body: await actions.testModel(input, context.req.raw.signal) }
    },
  },
  ...peopleRoutes,
  ...approvalRoutes,
  ...settingsRoutes,
  ...upkeepRoutes,
  {
    method: "GET",
    path: "/api/sandbox",
    handle: async ({ actions }) => ({ body: { sandboxes: actions.sandbox.list() } }),
  },
  {
    method: "GET",
    path: "/api/sandbox/explain",
    handle: async ({ actions }, context) => ({
      body: await actions.sandbox.explain(parse(sandboxQuery, context.req.query()).agent),
    }),
  },
  {
    method: "POST",
    path: "/api/sandbox/stop",
    async handle({ actions }, context) {
      const { id } = await parseBody(sandboxStop, context)
      about(context, id)
      return { body: { stopped: await actions.sandbox.stop(id) } }
    },
  },
  {
    method: "GET",
    path: "/api/channels",
    async handle({ actions }, context) {
      const { probe } = parse(channelsQuery, context.req.query())
      const wanted = probe === "true" || probe === "1"
      const channels = await runWithTimeout(
        probeTimeoutMs,
        "The probe of the channels",
        (signal) => actions.listChannels({ probe: wanted, signal }),
        context.req.raw.signal,
      )
      return { body: { channels } }
    },
  },
  {
    method: "POST",
    path: "/api/message/send",
    async handle({ actions }, context) {
      const input: MessageToSend = given(await parseBody(message, context))
      about(context, input.channel, input.account, input.target, input.dryRun ? "(dry run)" : "")
      return { status: input.dryRun ? 200 : 202, body: await actions.sendMessage(input, context.req.raw.signal) }
    },
  },
  ...(["edit", "delete", "react"] as const).map((action): Route => ({
    method: "POST",
    path: `/api/message/${action}`,
    async handle({ actions }, context) {
      const input = given({ action, ...(await parseBody(messageActions[action], context)) }) as MessageAction
      about(context, input.channel, input.account, input.target, input.dryRun ? "(dry run)" : "")
      return { status: input.dryRun ? 200 : 202, body: await actions.changeMessage(input, context.req.raw.signal) }
    },
  })),
  ...sessionRoutes,
  ...memoryRoutes,
  ...terminalRoutes,
  ...scheduleRoutes,
  ...mcpRoutes,
  ...secretRoutes,
  ...nodeRoutes,
  ...takeoverRoutes,
  ...accessRoutes,
  ...runRoutes,
  ...budgetRoutes,
  ...browserRoutes,
  ...pauseRoutes,
  ...deliveryRoutes,
  ...hookRoutes,
  ...logRoutes,
  ...pageRoutes,
  ...chatRoutes,
]

export function addApiRoutes(app: Hono<Env>, options: ApiOptions): void {
  for (const { method, path, handle } of routes) {
    app.on(method, path, async (context) => {
      const answer = await handle(options, context)
      const json = JSON.stringify({ ok: true, ...answer.body })
      const text = answer.shows === "secret" ? json : hide(options.redactor, json, answer.shows === "whole")
      return context.body(text, answer.status ?? 200, { "content-type": "application/json; charset=utf-8" })
    })
  }
  app.get("/api/runs/:runId/pictures/:n", (context) => {
    const { runId, n } = parse(pictureOf, context.req.param())
    return readPicture(options.store, runId, n)
  })
  app.get("/api/session/export", (context) => exportSession(options, context))
  app.get("/api/chat/messages/:message/files/:n", (context) => sendFile(options, context))
  app.get("/api/stream", async (context) => held(await listen(options.page, context), context))
  app.get("/api/browser/live", async (context) => held(await watchBrowser(options, context), context))
  app.all("/api/browser/live", () => notAllowed(["GET"], options.redactor))
  app.all("/api/stream", () => notAllowed(["GET"], options.redactor))
  for (const path of new Set(routes.map((route) => route.path))) {
    const allowed = routes.filter((route) => route.path === path).map((route) => route.method)
    app.all(path, () => notAllowed(allowed, options.redactor))
  }
}

/** Whoever listens is let go when what let them in is taken back. */
function held(response: Response, { env: { visit } }: Context<Env>): Response {
  if (!visit || !response.body) return response
  const body = heldStream(response.body, () => visit.holds())
  return new Response(body, { status: response.status, headers: response.headers })
}

function hide(redactor: Redactor, json: string, isWhole: boolean): string {
  return isWhole ? redactor.hideRegistered(json) : redactor.redact(json)
}

export function notAllowed(allowed: readonly string[], redactor: Redactor): Response {
  const error = new AppError("method-not-allowed", `This path is used with ${allowed.join(" or ")}`)
  const response = errorResponse(error, redactor)
  response.headers.set("allow", allowed.join(", "))
  return response
}
