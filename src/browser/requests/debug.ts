// The requests for what is kept of a page: console, errors, requests, bodies, cookies, storage.
import { z } from "zod"
import { clamped, flag, numeric, target, word, words } from "./fields.ts"

const timeout = clamped(500, 120_000, 20_000)

export const consoleRequest = z.object({
  ...target,
  level: z.enum(["error", "warning", "warn", "info", "log", "debug"]).optional(),
})
export const errorsRequest = z.object({ ...target, clear: flag.default(false) })
export const requestsRequest = z.object({
  ...target,
  filter: z.string().max(2_000).default(""),
  clear: flag.default(false),
})
export const pageOnly = z.object({ ...target, timeoutMs: timeout })
export const highlightRequest = z.object({ ...target, ref: word, timeoutMs: timeout })
export const bodyRequest = z.object({
  ...target,
  url: word,
  timeoutMs: timeout,
  maxChars: clamped(1, 5_000_000, 200_000),
})

const cookie = z
  .object({
    name: z.string().min(1).max(4_096),
    value: z.string().max(8_192),
    url: z.url({ protocol: /^https?$/ }).optional(),
    domain: z.string().min(1).max(300).optional(),
    path: z.string().min(1).max(2_000).optional(),
    /** Seconds since the epoch. */
    expires: numeric(z.number()).optional(),
    httpOnly: flag.optional(),
    secure: flag.optional(),
    sameSite: z.enum(["Lax", "None", "Strict"]).optional(),
  })
  .refine(
    ({ url, domain, path }) => url !== undefined || (domain !== undefined && path !== undefined),
    "needs url, or domain and path",
  )
export const setCookieRequest = z.object({ ...target, cookie, timeoutMs: timeout })

const kind = z.enum(["local", "session"], "must be local or session")
export const readStorageRequest = z.object({
  ...target,
  kind,
  key: z.string().max(10_000).optional(),
  timeoutMs: timeout,
})
export const setStorageRequest = z.object({
  ...target,
  kind,
  key: words(z.string().min(1, "must not be empty").max(10_000)),
  value: words(z.string().max(5_000_000)).default(""),
  timeoutMs: timeout,
})
export const clearStorageRequest = z.object({ ...target, kind, timeoutMs: timeout })

export const startTraceRequest = z.object({
  ...target,
  screenshots: flag.default(true),
  snapshots: flag.default(true),
  sources: flag.default(false),
})
export const stopTraceRequest = z.object({ ...target, path: word.optional() })

export type StartTraceRequest = z.infer<typeof startTraceRequest>
export type StopTraceRequest = z.infer<typeof stopTraceRequest>
export type ConsoleRequest = z.infer<typeof consoleRequest>
export type ErrorsRequest = z.infer<typeof errorsRequest>
export type RequestsRequest = z.infer<typeof requestsRequest>
export type PageOnly = z.infer<typeof pageOnly>
export type HighlightRequest = z.infer<typeof highlightRequest>
export type BodyRequest = z.infer<typeof bodyRequest>
export type SetCookieRequest = z.infer<typeof setCookieRequest>
export type ReadStorageRequest = z.infer<typeof readStorageRequest>
export type SetStorageRequest = z.infer<typeof setStorageRequest>
export type ClearStorageRequest = z.infer<typeof clearStorageRequest>
