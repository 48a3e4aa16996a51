// What the control service answers about what is kept of a page: console, errors, requests, bodies, cookies, storage.
import { z } from "zod"
import { done } from "./page.ts"

const timestamp = z.string().describe("ISO 8601.")

export const consoleMessage = z.object({
  type: z.string(),
  text: z.string(),
  timestamp,
  location: z.object({ url: z.string(), lineNumber: z.number(), columnNumber: z.number() }).exactOptional(),
})
export const consoleReply = z.object({ ...done.shape, messages: z.array(consoleMessage) })

export const pageError = z.object({
  message: z.string(),
  name: z.string().exactOptional(),
  stack: z.string().exactOptional(),
  timestamp,
})
export const errorsReply = z.object({ ...done.shape, errors: z.array(pageError) })

export const requestRecord = z.object({
  id: z.string().describe("`r<n>`"),
  timestamp,
  method: z.string(),
  url: z.string(),
  resourceType: z.string(),
  status: z.number().exactOptional(),
  ok: z.boolean().exactOptional().describe("Missing while the request is under way."),
  failureText: z.string().exactOptional(),
})
export const requestsReply = z.object({ ...done.shape, requests: z.array(requestRecord) })

export const bodyReply = z.object({
  ...done.shape,
  response: z.object({
    url: z.string(),
    status: z.number(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    truncated: z.literal(true).exactOptional(),
  }),
})

export const cookie = z.object({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string(),
  expires: z.number().describe("Seconds since the epoch; -1 for the life of the browser."),
  httpOnly: z.boolean(),
  secure: z.boolean(),
  sameSite: z.string().exactOptional(),
})
export const cookiesReply = z.object({ ...done.shape, cookies: z.array(cookie) })

export const storageReply = z.object({ ...done.shape, values: z.record(z.string(), z.string()) })

export const traceReply = z.object({ ...done.shape, path: z.string().describe("Absolute path of the zip file.") })
