// The agent tool `message` for turns that answer in the page's chat: what a reply by itself cannot do there. It reaches
// the chat of its own turn and no other, through the outbox, so that it keeps its place and survives a crash.
import { createHash } from "node:crypto"
import { z } from "zod"
import type { Gated, Tool, ToolContext, ToolResult } from "../../agent/tool.ts"
import type { Reply, ReplyMedia } from "../../delivery/contract.ts"
import { takeTags } from "../../delivery/tags.ts"
import { AppError } from "../../kernel/index.ts"
import type { Route } from "../../sessions/index.ts"
import type { NewOutbox, OutboxRow, Store } from "../../store/index.ts"
import { type Deed, gateOf } from "../shared/tool/deed.ts"
import { type Forms, orBlank, requireFields, schemaFor } from "../shared/tool/fields.ts"
import { addRows, earlierSend } from "../shared/tool/sends.ts"
import { webChannel } from "./contract.ts"
import { findMessage } from "./store.ts"
import { editRow, planReply, reactRow, rowOf } from "./sender.ts"

export interface WebToolOptions {
  store: Store
  takeMedia: (source: string, signal: AbortSignal) => Promise<ReplyMedia>
  /** What came of rows of the outbox. */
  waitFor: (ids: readonly number[], limits: { timeoutMs: number; signal: AbortSignal }) => Promise<OutboxRow[]>
}

/** A model waits; what is not there by then comes later. */
const waitMs = 20_000
const actions = ["send", "edit", "delete", "react"] as const
type Action = (typeof actions)[number]

const forms: Forms<Action> = {
  send: { needs: [], takes: ["message", "media", "buttons"] },
  edit: { needs: ["messageId", "message"], takes: ["buttons"] },
  delete: { needs: ["messageId"], takes: [] },
  react: { needs: ["emoji"], takes: ["messageId"] },
}

const button = z.object({
  text: z.string().trim().min(1).max(256).describe("What the button says"),
  callback_data: z.string().min(1).max(4096).describe("Comes back as `callback_data: <value>` when it is pressed"),
  style: z.enum(["danger", "success", "primary"]).optional(),
})

const input = z
  .object({
    action: z.enum(actions),
    message: z.string().optional().describe("Text in Markdown (send, edit)"),
    media: orBlank(z.string()).describe("http(s) address, or path of a file that a tool has made (send)"),
    buttons: z.array(z.array(button).max(8)).max(20).optional().describe("Rows of buttons; [] in an edit removes them"),
    messageId: orBlank(z.union([z.string(), z.int()]).transform(String)).describe(
      "Message to edit, delete or react to; unset for a reaction: the one that you answer",
    ),
    emoji: z.string().optional().describe("Reaction; empty takes it away"),
  })
  .superRefine(requireFields(forms))
  .superRefine(({ action, message, media }, context) => {
    if (action === "send" && message === undefined && media === undefined)
      context.addIssue({ code: "custom", path: ["message"], message: "is missing (or media)" })
  })

type Input = z.infer<typeof input>

export function createWebTool(options: WebToolOptions): Tool<Input> {
  const gate = (given: Input, context: ToolContext): Gated | undefined =>
    gateOf(options.store, deedOf(given, context), ownRoute(context), context)
  return {
    name: "message",
    description:
      "Acts in this chat (send, edit, delete, react). Your reply reaches it by itself: use this only for files from the web, buttons and reactions. After sending, your reply is not sent as well.",
    input,
    inputSchema: schemaFor(input, forms, actions),
    output: "trusted",
    // What a crash has cut may have happened; a send that is made again with the same content is found and not repeated.
    repeatable: () => false,
    gate,
    async run(given, context) {
      const gated = context.approved ? undefined : gate(given, context)
      if (gated) throw new AppError("forbidden", gated.reason)
      return await perform(options, given, context)
    },
  }
}

/** The page has one person, who is asked in this very chat: there is no other that a turn could reach. */
function ownRoute({ route }: ToolContext): Route {
  if (route?.channel !== webChannel) throw new AppError("forbidden", "This turn does not answer in the page's chat")
  const { messageId: _answered, ...chat } = route
  return chat
}

function deedOf({ action, message: text = "", ...given }: Input, { route }: ToolContext): Deed {
  const { messageId = route?.messageId ?? "", media, emoji = "" } = given
  const buttons = buttonsOf(given)
  switch (action) {
    case "send":
      return { kind: "send", input: { text, media, buttons } }
    case "edit":
      return { kind: "edit", input: { messageId, text, buttons } }
    case "delete":
      return { kind: "delete", input: { messageId } }
    case "react":
      return { kind: "react", input: { messageId, emoji } }
  }
}

function buttonsOf({ buttons }: Pick<Input, "buttons">) {
  return buttons?.map((row) =>
    row.map(({ text, callback_data: data, style }) => (style === undefined ? { text, data } : { text, data, style })),
  )
}

async function perform(options: WebToolOptions, given: Input, context: ToolContext): Promise<ToolResult> {
  const { store } = options
  const route = ownRoute(context)
  const { action, message: text = "", messageId = context.route?.messageId ?? "", emoji = "" } = given
  if (action === "send") return await send(options, given, route, context)
  if (action === "react") return await put(options, [reactRow(route, messageId, emoji)], context)
  if (findMessage(store, route.chatId, messageId)?.side !== "out")
    throw new AppError("not-found", "You have not sent a message of this id to this chat")
  if (action === "delete") return await put(options, [rowOf(route, "delete", { messageId })], context)
  const buttons = buttonsOf(given)
  return await put(options, [editRow(route, { messageId, text, ...(buttons ? { buttons } : {}) })], context)
}

async function send(options: WebToolOptions, given: Input, route: Route, context: ToolContext): Promise<ToolResult> {
  const { message = "", media, buttons = [] } = given
  const digest = createHash("sha256")
    .update(JSON.stringify([route.chatId, message, media ?? "", buttons]))
    .digest("base64url")
  const key = { runId: context.runId, digest }
  const earlier = earlierSend(options.store, key)
  if (earlier) return await outcome(options, earlier, context)
  const file = media === undefined ? [] : [await options.takeMedia(media, context.signal)]
  const reply: Reply = { ...takeTags(message, context.route?.messageId), media: file }
  const rows = buttonsOf({ buttons })?.filter((row) => row.length > 0) ?? []
  if (rows.length > 0) reply.buttons = rows
  return await put(options, planReply(route, reply), context, key)
}

async function put(
  options: WebToolOptions,
  rows: NewOutbox[],
  context: ToolContext,
  key?: { runId: string; digest: string },
): Promise<ToolResult> {
  if (rows.length === 0) throw new AppError("bad-request", "There is nothing to send: the text shows nothing")
  return await outcome(options, await addRows(options.store, key, context.runId, rows), context)
}

async function outcome(
  { waitFor }: WebToolOptions,
  ids: readonly number[],
  { signal }: ToolContext,
): Promise<ToolResult> {
  const rows = await waitFor(ids, { timeoutMs: waitMs, signal })
  const trouble = rows.find(({ state }) => state === "dead" || state === "dropped")
  if (trouble)
    return { content: [{ type: "text", text: `It was not done. ${trouble.error ?? ""}`.trim() }], isError: true }
  const messageId = rows.findLast((row) => row.remote_id !== null)?.remote_id
  const isDone = rows.every(({ state }) => state === "sent")
  const answer = { ok: true, ...(messageId ? { messageId } : {}), ...(isDone ? {} : { queued: true }) }
  return { content: [{ type: "text", text: JSON.stringify(answer) }] }
}
