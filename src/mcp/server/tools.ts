// The tools that other programs get, each with few words: their schemas stand in the context of every conversation of
// whoever uses them. All but `browser` are routes of the HTTP API under a form that models fill in easily.
import { AppError, type JsonObject, isJsonObject } from "../../kernel/index.ts"
import type { BrowserPort, Caller, ServerLinks } from "../contract.ts"
import { type Answer, type ServedTool, byAction, flag, json, needed, oneOf, queryOf, text, whole } from "./tool.ts"
import { waitForMessage } from "./wait.ts"

/** Those that this caller may use. */
export function toolsFor(links: ServerLinks, caller: Caller): ServedTool[] {
  const browser = links.browser()
  const all = [...(browser ? [browserTool(browser)] : []), message, deliveries, runs, approve]
  return all.filter(({ rights }) => rights.some((right) => caller.may(right)))
}

/** Actions and places that are for the agent's own turns. */
const agentsOwn = new Set(["target", "profile"])

function browserTool({ schema, description, run }: BrowserPort): ServedTool {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {}
  const shown = Object.entries(properties).filter(([name]) => !agentsOwn.has(name))
  const actions = isJsonObject(properties["action"]) ? properties["action"]["enum"] : []
  const names = (Array.isArray(actions) ? actions : []).filter((name) => name !== "attach")
  return {
    name: "browser",
    description,
    rights: ["browser"],
    schema: {
      ...schema,
      properties: {
        ...Object.fromEntries(shown),
        action: { type: "string", enum: names },
        profile: text("Browser profile; leave out for the default"),
        inline: flag("screenshot, labels: the picture in the answer, not as a resource"),
      },
    },
    async run(input, caller, signal) {
      const { inline, ...rest } = input
      if (rest["action"] === "attach")
        throw new AppError(
          "bad-request",
          "attach is for the agent in a chat; the person's own tabs have the profile relay",
        )
      caller.drives(String(rest["action"]))
      const { content, note, isError } = await run(rest, caller, signal)
      return {
        content,
        isForeign: true,
        inline: inline === true || inline === "true",
        ...(isError === undefined ? {} : { isError }),
        ...(note === undefined ? {} : { note: forElsewhere(note) }),
      }
    },
  }
}

/** What our agent is told of files is meant for its replies; here they are paths that `message` can send. */
function forElsewhere(note: string): string {
  const lines = note.split("\n").filter((line) => !line.startsWith("To send this ") && !line.startsWith("FILE:"))
  return lines.map((line) => (line.startsWith("MEDIA:") ? `Saved as ${line.slice("MEDIA:".length)}` : line)).join("\n")
}

const limit = whole("list: how many, 50 when unset")
const before = whole("list: `next` of the page before")

const change = (kind: string): ServedTool["run"] => {
  return async ({ action: _action, ...input }, caller, signal) =>
    json(await caller.call({ method: "POST", path: `/api/message/${kind}`, body: input }, signal), false)
}

async function readSession(input: JsonObject, caller: Caller, signal: AbortSignal): Promise<Answer> {
  const query = {
    key: needed(input, "session"),
    ...queryOf(input, "limit", "after"),
    last: input["after"] === undefined,
  }
  return json(await caller.call({ method: "GET", path: "/api/session/messages", query }, signal), true)
}

const messageActions = byAction({
  send: change("send"),
  edit: change("edit"),
  delete: change("delete"),
  react: change("react"),
  sessions: async (input, caller, signal) =>
    json(
      await caller.call({ method: "GET", path: "/api/sessions", query: queryOf(input, "limit", "before") }, signal),
      true,
    ),
  read: readSession,
  wait: async (input, caller, signal) => json(await waitForMessage(input, caller, signal), true),
})

const message: ServedTool = {
  name: "message",
  description:
    "Send, edit, delete and react to messages in the gateway's chats, and read its conversations. " +
    "sessions lists them; read shows one; wait returns when somebody has written there.",
  rights: ["message"],
  schema: {
    type: "object",
    properties: {
      action: oneOf(messageActions.names),
      target: text("send, edit, delete, react: chat id or @name"),
      message: text("send, edit: the text"),
      media: text("send: file by http(s) address or saved path"),
      messageId: text("edit, delete, react"),
      emoji: text("react: empty takes it away"),
      replyTo: text("send: message id"),
      threadId: text("send: topic id"),
      silent: flag("send"),
      dryRun: flag("only check"),
      session: text("read, wait: key of the session"),
      after: whole("read, wait: id of a message; only later ones"),
      waitSeconds: whole("send: until it is sent, 60 at most; wait: 240 at most"),
      limit: whole("sessions, read: how many"),
      before: whole("sessions: `next` of the page before"),
    },
    required: ["action"],
  },
  run: messageActions.run,
}

/** Of the chat platform, or of webhooks; the same three actions. */
const places = {
  chat: { list: "/api/deliveries", repeat: "retry" },
  webhooks: { list: "/api/hooks", repeat: "replay" },
}

function placeOf(input: JsonObject): (typeof places)["chat"] {
  const of = input["of"] ?? "chat"
  if (of === "chat" || of === "webhooks") return places[of]
  throw new AppError("bad-request", "of must be chat or webhooks")
}

const deliveryActions = byAction({
  async list(input, caller, signal) {
    const query = queryOf(input, "state", "limit", "before")
    return json(await caller.call({ method: "GET", path: placeOf(input).list, query }, signal), true)
  },
  show: async (input, caller, signal) =>
    json(await caller.call({ method: "GET", path: `${placeOf(input).list}/${idOf(input, "id")}` }, signal), true),
  async repeat(input, caller, signal) {
    const { list, repeat } = placeOf(input)
    const path = `${list}/${idOf(input, "id")}/${repeat}`
    return json(await caller.call({ method: "POST", path, body: {} }, signal), false)
  },
})

/** Ids stand in paths. */
function idOf(input: JsonObject, name: string): string {
  return encodeURIComponent(needed(input, name))
}

const deliveries: ServedTool = {
  name: "deliveries",
  description: "What was sent to chats, and what webhooks have brought. repeat sends it again, or replays the webhook.",
  rights: ["admin"],
  schema: {
    type: "object",
    properties: {
      action: oneOf(deliveryActions.names),
      of: oneOf(Object.keys(places), "chat when unset"),
      id: whole("show, repeat"),
      state: oneOf(["new", "sending", "sent", "uncertain", "dead", "dropped"], "list, of chat"),
      limit,
      before,
    },
    required: ["action"],
  },
  run: deliveryActions.run,
}

const runActions = byAction({
  list: async (input, caller, signal) =>
    json(
      await caller.call(
        { method: "GET", path: "/api/runs", query: queryOf(input, "state", "limit", "before") },
        signal,
      ),
      true,
    ),
  show: async (input, caller, signal) =>
    json(await caller.call({ method: "GET", path: `/api/runs/${idOf(input, "runId")}` }, signal), true),
})

const runs: ServedTool = {
  name: "runs",
  description: "What the gateway's agent was asked to do: its turns with each step, tool call and result.",
  rights: ["admin"],
  schema: {
    type: "object",
    properties: {
      action: oneOf(runActions.names),
      runId: text("show"),
      state: oneOf(["ready", "running", "done", "dead", "cancelled"], "list"),
      limit,
      before,
    },
    required: ["action"],
  },
  run: runActions.run,
}

const answerQuestion = (decision: "allow" | "deny"): ServedTool["run"] => {
  return async (input, caller, signal) =>
    json(
      await caller.call({ method: "POST", path: `/api/approvals/${idOf(input, "id")}/${decision}`, body: {} }, signal),
      true,
    )
}

const approveActions = byAction({
  list: async (input, caller, signal) =>
    json(
      await caller.call({ method: "GET", path: "/api/approvals", query: queryOf(input, "state", "limit") }, signal),
      true,
    ),
  show: async (input, caller, signal) =>
    json(await caller.call({ method: "GET", path: `/api/approvals/${idOf(input, "id")}` }, signal), true),
  allow: answerQuestion("allow"),
  deny: answerQuestion("deny"),
})

const approve: ServedTool = {
  name: "approve",
  description:
    "Questions of the gateway's agent about what it may not do by itself. Show the whole action to the person and answer as they say.",
  rights: ["admin"],
  schema: {
    type: "object",
    properties: {
      action: oneOf(approveActions.names),
      id: text("show, allow, deny"),
      state: oneOf(["asked", "allowed", "denied", "expired", "used"], "list"),
      limit: whole("list: how many, 50 when unset"),
    },
    required: ["action"],
  },
  run: approveActions.run,
}
