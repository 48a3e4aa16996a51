// What is kept of a page and around it: console, errors, requests, bodies, PDF, highlight, cookies, storage.
import { type CoreOptions, createAccess, limits } from "./access.ts"
import type { Caller } from "./caller.ts"
import { saveFile } from "./media.ts"
import { failure } from "./page/actions/reach.ts"
import { concealWords } from "./page/concealment.ts"
import { callAgent } from "./page/frames.ts"
import type { ConsoleMessage, PageError, RequestRecord } from "./page/recorder.ts"
import { parseRef, staleRef } from "./page/refs.ts"
import { type ResponseBody, waitForBody } from "./page/response-body.ts"
import { highlight } from "./page/snapshot/labels.ts"
import { type Cookie, readCookies, readPageCookies, setCookie, useStorage } from "./page/storage.ts"
import type { Operation, Tab } from "./page/tab.ts"
import type * as requests from "./requests/index.ts"

interface Done {
  ok: true
  targetId: string
}

export function debugOperations(options: CoreOptions) {
  const { guard } = options
  const { needLibrary, pick } = createAccess(options)
  const observe = async (feature: string, caller: Caller, targetId: string | undefined): Promise<Tab> => {
    needLibrary(feature)
    const tab = await pick(caller, targetId)
    await tab.attach()
    return tab
  }
  return {
    async console(caller: Caller, request: requests.ConsoleRequest): Promise<Done & { messages: ConsoleMessage[] }> {
      const tab = await observe("console messages", caller, request.targetId)
      return { ...done(tab), messages: tab.recorder.console(request.level) }
    },
    async errors(caller: Caller, request: requests.ErrorsRequest): Promise<Done & { errors: PageError[] }> {
      const tab = await observe("page errors", caller, request.targetId)
      return { ...done(tab), errors: tab.recorder.errors(request.clear) }
    },
    async requests(caller: Caller, request: requests.RequestsRequest): Promise<Done & { requests: RequestRecord[] }> {
      const tab = await observe("network requests", caller, request.targetId)
      return { ...done(tab), requests: tab.recorder.requests(request.filter, request.clear) }
    },
    async responseBody(caller: Caller, request: requests.BodyRequest): Promise<Done & { response: ResponseBody }> {
      const tab = await observe("response body", caller, request.targetId)
      const response = await waitForBody(tab, request, caller.signal)
      guard.checkRead(tab, response.url)
      return { ...done(tab), response }
    },
    async pdf(caller: Caller, request: requests.PageOnly): Promise<Done & { path: string; url: string }> {
      const tab = await observe("pdf", caller, request.targetId)
      const data = await tab.operate(limits("The PDF", request.timeoutMs, caller), async ({ signal }) => {
        guard.checkRead(tab)
        const parameters = { printBackground: true }
        await concealWords(tab, signal)
        return (await tab.session.send<{ data: string }>("Page.printToPDF", parameters, { signal, timeoutMs: 0 })).data
      })
      return { ...done(tab), url: tab.url, path: await saveFile(options, { data, extension: "pdf" }) }
    },
    async highlight(caller: Caller, request: requests.HighlightRequest): Promise<Done> {
      const tab = await observe("highlight", caller, request.targetId)
      await tab.operate(limits("The highlight", request.timeoutMs, caller), async ({ signal }) => {
        const { world, id } = tab.refs.resolve(request.ref, tab)
        const number = parseRef(request.ref)
        if (!(await callAgent<boolean>(world, "scroll", { id }, signal))) throw staleRef(number)
        if (!(await highlight(tab, world, id, signal))) throw failure({ kind: "not-visible" }, number)
      })
      return done(tab)
    },
  }
}

/** Cookies and storage; the same as access to the accounts that they belong to. */
export function storageOperations(options: CoreOptions) {
  const { guard, log, registry } = options
  const { needLibrary, needWholeBrowser, pick } = createAccess(options)
  const use = async <Result>(
    what: string,
    caller: Caller,
    request: { targetId?: string | undefined; timeoutMs: number },
    work: (tab: Tab, operation: Operation) => Promise<Result>,
  ): Promise<Done & { result: Result }> => {
    needLibrary(what)
    const tab = await pick(caller, request.targetId)
    const result = await tab.operate(limits(`The ${what}`, request.timeoutMs, caller), (operation) => {
      guard.checkRead(tab)
      return work(tab, operation)
    })
    // They are the accounts of whoever is logged in: that somebody had them is kept.
    log.info({ targetId: tab.targetId, profile: caller.profile, what }, "page data used")
    return { ...done(tab), result }
  }
  return {
    async cookies(caller: Caller, request: requests.PageOnly): Promise<Done & { cookies: Cookie[] }> {
      const isRelay = registry.get(caller.profile).kind === "relay"
      const read = await use("cookies", caller, request, (tab, { signal }) =>
        isRelay ? readPageCookies(tab, signal) : readCookies(tab.browser, guard.contextOf(tab), signal),
      )
      return { ok: true, targetId: read.targetId, cookies: read.result }
    },
    async setCookie(caller: Caller, request: requests.SetCookieRequest): Promise<Done> {
      const { cookie } = request
      needWholeBrowser(caller, noCookies)
      return plain(
        await use("cookies", caller, request, (tab, { signal }) =>
          setCookie(tab.browser, cookie, guard.contextOf(tab), signal),
        ),
      )
    },
    async clearCookies(caller: Caller, request: requests.PageOnly): Promise<Done> {
      needWholeBrowser(caller, noCookies)
      return plain(
        await use("cookies", caller, request, (tab, { signal }) =>
          tab.browser.send("Storage.clearCookies", guard.contextOf(tab), { signal }),
        ),
      )
    },
    async storage(
      caller: Caller,
      request: requests.ReadStorageRequest,
    ): Promise<Done & { values: Record<string, string> }> {
      const { kind, key } = request
      const code =
        key === undefined
          ? "({ ...storage })"
          : `(storage.getItem(${JSON.stringify(key)}) === null ? {} : { [${JSON.stringify(key)}]: storage.getItem(${JSON.stringify(key)}) })`
      const read = await use("storage", caller, request, (tab, operation) =>
        useStorage<Record<string, string>>(tab, kind, code, operation),
      )
      return { ok: true, targetId: read.targetId, values: read.result }
    },
    async setStorage(caller: Caller, request: requests.SetStorageRequest): Promise<Done> {
      const code = `storage.setItem(${JSON.stringify(request.key)}, ${JSON.stringify(request.value)})`
      const work = (tab: Tab, operation: Operation) => useStorage(tab, request.kind, code, operation)
      return plain(await use("storage", caller, request, work))
    },
    async clearStorage(caller: Caller, request: requests.ClearStorageRequest): Promise<Done> {
      const work = (tab: Tab, operation: Operation) => useStorage(tab, request.kind, "storage.clear()", operation)
      return plain(await use("storage", caller, request, work))
    },
  }
}

const noCookies = "cookies are theirs; those of the page shown can be read, and none set or cleared"

function done(tab: Tab): Done {
  return { ok: true, targetId: tab.targetId }
}

function plain({ targetId }: Done): Done {
  return { ok: true, targetId }
}
