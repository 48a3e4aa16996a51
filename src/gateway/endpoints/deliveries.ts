// What was sent to chats.
import { z } from "zod"
import { before, define, limit, nothing, pageOf, rowId } from "./endpoint.ts"

export const deliveryState = z.enum(["new", "sending", "sent", "uncertain", "dead", "dropped"])

export const deliverySummary = z.object({
  id: z.number(),
  runId: z.string().nullable(),
  channel: z.string(),
  account: z.string(),
  chatId: z.string(),
  kind: z.string(),
  state: deliveryState,
  attempts: z.number(),
  createdAt: z.number(),
  sentAt: z.number().nullable(),
  /** The platform's id of the sent message. */
  remoteId: z.string().nullable(),
  error: z.string().nullable(),
  /** Beginning of the payload. */
  preview: z.string(),
})

export const deliveryEndpoints = define({
  "GET /api/deliveries": {
    summary: "Lists messages that were sent or are to be sent, newest first",
    query: z.object({ limit, before, state: deliveryState.optional() }),
    reply: pageOf(deliverySummary),
  },
  "GET /api/deliveries/:id": {
    summary: "Shows one message with where it goes and all that it holds",
    params: rowId,
    reply: deliverySummary.extend({ route: z.json(), payload: z.json() }),
  },
  "POST /api/deliveries/:id/retry": {
    summary: "Sends a message once more that failed or is in doubt",
    params: rowId,
    body: nothing,
    reply: z.object({ id: z.number() }),
  },
  "POST /api/deliveries/:id/dismiss": {
    summary: "Marks a message that failed or is in doubt as seen: it is dropped and counts no more",
    params: rowId,
    body: nothing,
    reply: z.object({}),
  },
})
