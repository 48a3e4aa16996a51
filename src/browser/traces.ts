// Traces: one at a time in a browser, written below `<state>/traces`.
import { chmod, mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { AppError } from "../kernel/index.ts"
import { type CoreOptions, createAccess } from "./access.ts"
import type { Caller } from "./caller.ts"
import { moveInto, pathToWrite } from "./files/safe-path.ts"
import { copyZipWithout } from "./files/zip-words.ts"
import type { Tab } from "./page/tab.ts"
import { Trace } from "./page/trace.ts"
import type { LiveBrowser } from "./profiles/contract.ts"
import type * as requests from "./requests/index.ts"
import { noTrace } from "./running-traces.ts"
import { formsOf } from "./secrets.ts"

interface Done {
  ok: true
  targetId: string
}

/** A film that nobody ends would fill the disk. */
const maxTraceMs = 60 * 60_000
/** Shorter words stand everywhere. */
const leastChars = 6

/** As the recorder writes them: requests, their bodies, pages, and all of it inside JSON. */
function formsIn(value: string): string[] {
  const plain = [...formsOf(value), encodeURIComponent(value.toWellFormed())]
  return [...new Set(plain.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]))]
}

export function traceOperations(options: CoreOptions) {
  const { registry, guard, stateFolder, ids, clock, background, log, traces } = options
  const { needLibrary, needWholeBrowser, pick } = createAccess(options)
  const root = join(stateFolder, "traces")

  async function browserOf(caller: Caller, targetId: string | undefined): Promise<{ tab: Tab; live: LiveBrowser }> {
    const tab = await pick(caller, targetId)
    return { tab, live: await registry.get(caller.profile).ensure(caller.signal) }
  }

  async function write(trace: Trace, wanted: string | undefined): Promise<string> {
    const parts = join(root, ".part")
    await mkdir(parts, { recursive: true, mode: 0o700 })
    const part = join(parts, `${ids.uuid()}.zip`)
    const plain = join(parts, `${ids.uuid()}.zip`)
    try {
      await trace.stop(part)
      await chmod(part, 0o600)
      const words = options.hidden.values.flatMap(formsIn).filter((form) => form.length >= leastChars)
      if (words.length > 0) await copyZipWithout(part, plain, words)
      return await moveInto(words.length > 0 ? plain : part, root, wanted ?? `trace-${ids.uuid()}.zip`)
    } finally {
      await Promise.all([rm(part, { force: true }), rm(plain, { force: true })])
    }
  }

  /** One that was forgotten is kept as it is by then. */
  async function endOverdue(live: LiveBrowser, trace: Trace): Promise<void> {
    try {
      await clock.sleep(maxTraceMs, trace.ended)
    } catch (error) {
      if (trace.ended.aborted) return
      throw error
    }
    if ((await traces.of(live)) !== trace) return
    const path = await write(await traces.take(live), undefined)
    log.warn({ path }, "trace ended: nobody did")
  }

  return {
    async startTrace(caller: Caller, request: requests.StartTraceRequest): Promise<Done> {
      needLibrary("trace start")
      needWholeBrowser(caller, "a trace would hold all of the browser")
      const { tab, live } = await browserOf(caller, request.targetId)
      if (guard.isGuest(tab)) throw new AppError("bad-request", "Tabs of untrusted turns are not traced")
      if (live.tabs.list.some((each) => each.isTaken)) {
        throw new AppError("tab-taken", "A person has a tab of this browser in their hands: it is not filmed")
      }
      const asking = live.tabs.list.find((each) => each.dialog)
      if (asking) {
        throw new AppError("dialog-open", `A dialog is open in the tab ${asking.targetId}`, {
          hint: "Answer it first: a page that waits for an answer cannot be traced",
        })
      }
      const { screenshots, snapshots, sources } = request
      const parts = { connection: live.connection, tabs: live.tabs, background, clock, ids, log }
      const trace = await traces.start(live, () => Trace.start(parts, { screenshots, snapshots, sources }))
      background.run("trace limit", () => endOverdue(live, trace))
      log.info({ targetId: tab.targetId }, "trace started")
      return { ok: true, targetId: tab.targetId }
    },
    async stopTrace(caller: Caller, request: requests.StopTraceRequest): Promise<Done & { path: string }> {
      needLibrary("trace stop")
      if (request.path !== undefined) await pathToWrite(root, request.path)
      // A browser is not started only to say that it has no trace.
      const { live } = registry.get(caller.profile)
      if (!live || !(await traces.of(live))) throw noTrace()
      const tab = await pick(caller, request.targetId)
      const path = await write(await traces.take(live), request.path)
      log.info({ targetId: tab.targetId, path }, "trace written")
      return { ok: true, targetId: tab.targetId, path }
    },
  }
}
