// Cookies of the browser's context, and the local and session storage of the page that a tab shows.
import { AppError } from "../../kernel/index.ts"
import { CdpError, type CdpSession } from "../cdp/index.ts"
import type { Operation, Tab } from "./tab.ts"

export interface Cookie {
  name: string
  value: string
  domain: string
  path: string
  expires: number
  httpOnly: boolean
  secure: boolean
  sameSite?: string
}

/** The context whose cookies are meant; the browser's own when none is named. */
export interface CookieContext {
  browserContextId?: string
}

export async function readCookies(root: CdpSession, context: CookieContext, signal: AbortSignal): Promise<Cookie[]> {
  const { cookies } = await root.send<{ cookies: Cookie[] }>("Storage.getCookies", { ...context }, { signal })
  return cookies.map(plainCookie)
}

/** Only those that the page of a tab is given. */
export async function readPageCookies(tab: Tab, signal: AbortSignal): Promise<Cookie[]> {
  const urls = [tab.url]
  const { cookies } = await tab.session.send<{ cookies: Cookie[] }>("Network.getCookies", { urls }, { signal })
  return cookies.map(plainCookie)
}

function plainCookie({ name, value, domain, path, expires, httpOnly, secure, sameSite }: Cookie): Cookie {
  const site = sameSite === undefined ? {} : { sameSite }
  return { name, value, domain, path, expires, httpOnly, secure, ...site }
}

export async function setCookie(
  root: CdpSession,
  cookie: object,
  context: CookieContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await root.send("Storage.setCookies", { cookies: [cookie], ...context }, { signal })
  } catch (error) {
    if (!(error instanceof CdpError)) throw error
    throw new AppError("bad-request", "cookie: the browser does not take it", {
      cause: error,
      hint: "A cookie needs name, value, and either url or domain and path",
    })
  }
}

export type StorageKind = "local" | "session"

/** One operation on a storage, in our own world of the page, where the page cannot have replaced it. */
export async function useStorage<Result>(
  tab: Tab,
  kind: StorageKind,
  code: string,
  operation: Operation,
): Promise<Result> {
  const { signal } = operation
  const world = await tab.frames.world(tab.frames.main, signal)
  const reply = await world.session.send<{ result: { value?: unknown }; exceptionDetails?: object }>(
    "Runtime.evaluate",
    {
      expression: `((storage) => ${code})(${kind}Storage)`,
      contextId: world.contextId,
      returnByValue: true,
    },
    { signal },
  )
  if (!reply.exceptionDetails) return reply.result.value as Result
  throw new AppError("conflict", `The page has no ${kind} storage, or it is full`, {
    hint: "Navigate to an http or https page first",
  })
}
