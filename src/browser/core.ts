// What browser control can do, once for its two faces: the HTTP routes and the agent tool.
import { join } from "node:path"
import { AppError } from "../kernel/index.ts"
import { type CoreOptions, createAccess, limits, needEvaluation, pageReply, type Place } from "./access.ts"
import type { Caller } from "./caller.ts"
import type {
  ActReply,
  NavigateReply,
  PageReply,
  ProfileStatus,
  Reply,
  RunReply,
  ScreenshotReply,
  TabInfo,
  TabOverrides,
  TabActionReply,
} from "./contract.ts"
import { debugOperations, storageOperations } from "./debug.ts"
import { fileOperations } from "./files/operations.ts"
import { safeName } from "./files/safe-name.ts"
import { savePicture } from "./media.ts"
import { act } from "./page/act.ts"
import type { Reveal } from "./page/actions/mouse.ts"
import { addressOfFrame } from "./page/frame-address.ts"
import { navigate } from "./page/navigate.ts"
import { takeScreenshot } from "./page/screenshot.ts"
import type { Tab } from "./page/tab.ts"
import type { Guard } from "./guard.ts"
import type { LiveBrowser } from "./profiles/contract.ts"
import { type Detected, rememberDetection } from "./profiles/detect/index.ts"
import { managedName } from "./profiles/definitions.ts"
import { profileOperations } from "./profiles/operations.ts"
import type {
  ActRequest,
  DialogRequest,
  ExplainRequest,
  NavigateRequest,
  OpenRequest,
  RunRequest,
  ScreenshotRequest,
  TabActionRequest,
} from "./requests/index.ts"
import { extensionOperations } from "./relay/operations.ts"
import { elementOperations } from "./script/elements.ts"
import { inputsOf } from "./script/form.ts"
import { type KeptScript, Shelf, nameIn } from "./script/shelf.ts"
import { type ScriptCore, type ScriptShelf, performScript, plainHands } from "./script/perform.ts"
import { hideIn } from "./secrets.ts"
import { placeFor, settingOperations } from "./settings.ts"
import { sightOperations } from "./sight.ts"
import { takeoverOperations } from "./takeover/operations.ts"
import { traceOperations } from "./traces.ts"
import { freshSnapshot, labelledPicture, snapshotOperations } from "./snapshots.ts"

export type { CoreOptions } from "./access.ts"
export type { Caller } from "./caller.ts"
export type BrowserCore = ReturnType<typeof createBrowserCore>

export function createBrowserCore(options: CoreOptions) {
  const operations = {
    ...lifecycle(options),
    ...profileOperations(options),
    ...extensionOperations(options),
    ...tabOperations(options),
    ...pageOperations(options),
    ...snapshotOperations(options),
    ...debugOperations(options),
    ...storageOperations(options),
    ...fileOperations(options),
    ...settingOperations(options),
    ...traceOperations(options),
    ...sightOperations(options),
    ...secretOperations(options),
    async explain(request: ExplainRequest): Promise<Reply<"Explanation">> {
      if (options.explain) return await options.explain(request)
      throw new AppError("not-found", "Only a gateway knows where calls go")
    },
    ...takeoverOperations(options),
    ...elementOperations(options),
  }
  const shown = hideIn(operations, options.hidden)
  // Its steps see no more than any other caller does.
  const kept = hideIn(keptScripts(options), options.hidden)
  return { ...shown, ...kept, ...hideIn(scriptOperations(options, shown, kept), options.hidden) }
}

function scriptOperations(options: CoreOptions, core: ScriptCore, kept: ScriptShelf) {
  const { needLibrary } = createAccess(options)
  return {
    async run(caller: Caller, request: RunRequest): Promise<RunReply> {
      needLibrary("act:run")
      return await performScript(core, request, caller, {
        shelf: kept,
        handsFor: (own, targetId) => plainHands(core, own, targetId),
        isNamed: () => true,
        keepsTriedOnly: false,
      })
    },
  }
}

function keptScripts({ stateFolder, clock, log, hidden }: CoreOptions) {
  const shelf = new Shelf({
    folder: join(stateFolder, "browser", "scripts"),
    clock,
    log,
    holdsSecret: (text) => hidden.hide(text) !== text,
  })
  const shown = (script: KeptScript) => ({ ...script, inputs: inputsOf(script.steps) })
  return {
    scripts: async () => (await shelf.list()).map(shown),
    readScript: async (name: string) => shown(await shelf.read(name)),
    /** Why it was not kept; null when it was. */
    keepScript: async (name: string, script: Parameters<Shelf["keep"]>[1]) => ({
      reason: (await shelf.keep(name, script)) ?? null,
    }),
    noteScript: (script: KeptScript, stopped: string | undefined) => shelf.note(script, stopped),
    async removeScript(name: string): Promise<{ ok: true; name: string }> {
      await shelf.remove(name)
      return { ok: true, name: nameIn(name) }
    },
  }
}

function secretOperations(options: CoreOptions) {
  const { pick } = createAccess(options)
  return {
    /** Names of kept secrets that a frame of the tab may be given. */
    async secretNames(caller: Caller, targetId: string): Promise<string[]> {
      const { secrets } = options
      if (!secrets || caller.withoutSecrets) return []
      const tab = await pick(caller, targetId)
      const origins = new Set(tab.frames.all.map((frame) => originOfAddress(addressOfFrame(tab, frame))))
      return [...new Set([...origins].flatMap((origin) => secrets.namesFor(origin)))].toSorted()
    },
  }
}

function originOfAddress(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : ""
}

/** Takes a secret for one filling; from then on it is hidden. */
function revealer({ secrets, hidden }: CoreOptions, caller: Caller): Reveal | undefined {
  if (!secrets || caller.withoutSecrets) return undefined
  return async (name, origin, signal) => {
    const { value, anyField } = await secrets.reveal(name, origin, signal)
    const plain = value.reveal()
    hidden.add(plain)
    return { value: plain, anyField }
  }
}

function lifecycle(options: CoreOptions) {
  const { registry, machine, guard, clock } = options
  const { enter } = createAccess(options)
  const detect = rememberDetection(machine, () => clock.monotonic())
  const visible = (live: LiveBrowser | undefined, caller: Caller): Tab[] =>
    live ? live.tabs.listIn(guard.spaceOf(live, caller)) : []
  async function status(caller: Caller): Promise<ProfileStatus> {
    const { settings } = options
    const profile = registry.get(caller.profile)
    const [reach, detected] = await Promise.all([
      profile.probe(caller.signal),
      describeDetection(detect(settings.executablePath)),
    ])
    const { running: connected, ...state } = profile.state()
    return {
      enabled: settings.enabled,
      profile: profile.name,
      running: reach.ready,
      connected,
      cdpReady: reach.ready,
      cdpHttp: reach.http,
      ...state,
      ...detected,
      executablePath: state.executablePath ?? settings.executablePath ?? null,
      color: profile.color,
      attachOnly: settings.attachOnly,
      lastError: reach.reason ?? state.lastError,
      overrides: visible(profile.live, caller).flatMap(overridesOf),
    }
  }
  return {
    status,
    /** The profile for a turn on words of others that names none: never the person's own tabs. */
    placeApart: (): string | undefined => (registry.get(undefined).kind === "relay" ? managedName : undefined),
    /** Why the usual profile could not be started now. Nothing is started: it is only looked for what would be. */
    async problem(): Promise<AppError | undefined> {
      const { settings } = options
      try {
        const profile = registry.get(undefined)
        if (profile.live || profile.kind === "remote" || settings.attachOnly) return undefined
        await detect(settings.executablePath)
        if (!profile.hasFailedToStart) return undefined
        const message = `The browser did not start: ${profile.state().lastError ?? "no reason was given"}`
        return new AppError("browser-start-failed", message, { hint: "svc browser start tries it again" })
      } catch (error) {
        if (error instanceof AppError) return error
        throw error
      }
    },
    async start(caller: Caller): Promise<{ ok: true; profile: string }> {
      const profile = registry.get(caller.profile)
      await enter(caller)
      return { ok: true, profile: profile.name }
    },
    async stop(caller: Caller): Promise<{ ok: true; stopped: boolean; profile: string }> {
      const profile = registry.get(caller.profile)
      return { ok: true, stopped: await profile.stop(), profile: profile.name }
    },
  }
}

async function describeDetection(detection: Promise<Detected>) {
  try {
    const found = await detection
    return { detectedBrowser: found.kind, detectedExecutablePath: found.path, detectError: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { detectedBrowser: null, detectedExecutablePath: null, detectError: error.message }
  }
}

const notThere: ReadonlySet<string> = new Set(["browser-unreachable", "browser-not-running", "relay-not-connected"])

function tabOperations(options: CoreOptions) {
  const { registry, guard } = options
  const { enter, pick } = createAccess(options)
  /** Starts no browser; one that runs elsewhere is connected to. */
  const current = async (caller: Caller): Promise<Place | undefined> => {
    const profile = registry.get(caller.profile)
    const live = profile.owned ? profile.live : await profile.ensure(caller.signal)
    return live && { tabs: live.tabs, space: guard.spaceOf(live, caller) }
  }
  const running = async (caller: Caller): Promise<Place> => {
    const place = await current(caller)
    if (place) return place
    throw new AppError(
      "browser-not-running",
      `The browser of profile ${registry.get(caller.profile).name} is not running`,
      {
        hint: "Start it first",
      },
    )
  }
  const infoOf = (tab: Tab) => tabInfo(tab, guard.isGuest(tab))
  const operations = {
    async tabs(caller: Caller): Promise<{ running: boolean; tabs: TabInfo[] }> {
      const place = await current(caller).catch((error: unknown) => {
        // Out there nothing runs that could be used; `GET /` says why.
        if (error instanceof AppError && notThere.has(error.code)) return undefined
        throw error
      })
      return place ? { running: true, tabs: place.tabs.listIn(place.space).map(infoOf) } : { running: false, tabs: [] }
    },
    /** A new tab, in the background; without the automation library the page is only started to load. */
    async open(caller: Caller, request: OpenRequest): Promise<TabInfo> {
      const url = await guard.checkOpen(caller, request.url)
      const { tabs, space } = await enter(caller)
      const tab = await tabs.create(space)
      try {
        await visit(tab, url, limits("Opening the page", request.timeoutMs, caller), { guard, caller })
      } catch (error) {
        // A tab that shows nothing would only be in the way.
        await tabs.close(tab)
        throw error
      }
      return { ...infoOf(tab), title: await tab.title(), url: tab.url }
    },
    async focus(caller: Caller, targetId: string): Promise<{ ok: true; targetId: string }> {
      const { tabs, space } = await running(caller)
      const tab = tabs.find(targetId, space)
      await tabs.focus(tab)
      return { ok: true, targetId: tab.targetId }
    },
    async close(caller: Caller, targetId: string | undefined): Promise<{ ok: true; targetId: string }> {
      const { tabs, space } = await running(caller)
      const tab = (await tabs.pick(targetId, space)).checkTaken()
      await tabs.close(tab)
      return { ok: true, targetId: tab.targetId }
    },
    /** Answers the question that is open; when there is none, the next one. */
    async answerDialog(caller: Caller, request: DialogRequest): Promise<PageReply & { armed?: true }> {
      const tab = (await pick(caller, request.targetId)).checkTaken()
      if (tab.dialog) {
        await tab.answerDialog(request)
        return pageReply(tab)
      }
      await tab.attach()
      tab.armDialog(request, request.timeoutMs, caller.staysOn?.may)
      return { ...(await pageReply(tab)), armed: true }
    },
  }
  return {
    ...operations,
    /** Tabs by their place in the list, for callers that know no ids; `close` without a place takes the first. */
    async tabAction(caller: Caller, { action, index = 0 }: TabActionRequest): Promise<TabActionReply> {
      if (action === "list") return { ok: true, tabs: (await operations.tabs(caller)).tabs }
      if (action === "new") {
        const tab = await operations.open(caller, { url: "about:blank", timeoutMs: 20_000 })
        return { ok: true, tab }
      }
      const { tabs, space } = await running(caller)
      const list = tabs.listIn(space)
      const tab = list[index]
      if (!tab) throw new AppError("tab-not-found", `There is no tab ${index}; there are ${list.length}, from 0`)
      return action === "select" ? operations.focus(caller, tab.targetId) : operations.close(caller, tab.targetId)
    },
  }
}

function pageOperations(options: CoreOptions) {
  const { registry, guard, traces } = options
  const { needLibrary, pick } = createAccess(options)
  return {
    async navigate(caller: Caller, request: NavigateRequest): Promise<NavigateReply> {
      needLibrary("navigate")
      const url = await guard.checkOpen(caller, request.url)
      const tab = await pick(caller, request.targetId)
      const { live } = registry.get(caller.profile)
      return await tellingRefusals(live, tab, async () => {
        const outcome = await traces.around(live, tab, `navigate ${url}`, () =>
          visit(tab, url, limits("Loading the page", request.timeoutMs, caller), { guard, caller }),
        )
        const { fresh, title } = await freshSnapshot(
          tab,
          request.snapshot,
          guard,
          limits("", request.timeoutMs, caller),
        )
        return { ...(await pageReply(tab, title)), ...outcome, ...fresh }
      })
    },
    async screenshot(caller: Caller, request: ScreenshotRequest): Promise<ScreenshotReply & { data: string }> {
      const { fullPage, ref, element, labels, type } = request
      if (ref !== undefined || element !== undefined) needLibrary("screenshot of an element")
      if (labels) needLibrary("screenshot with labels")
      const tab = await pick(caller, request.targetId)
      const taken = await tab.operate(limits("The screenshot", request.timeoutMs, caller), async (operation) => {
        guard.checkRead(tab)
        if (labels) return labelledPicture(tab, type, operation)
        return { picture: await takeScreenshot(tab, { fullPage, ref, element, type }, operation) }
      })
      const { picture } = taken
      const counts = "shown" in taken ? { labelsCount: taken.shown, labelsSkipped: taken.skipped } : {}
      return { ...(await pageReply(tab)), path: await savePicture(options, picture), ...picture, ...counts }
    },
    async act(caller: Caller, request: ActRequest): Promise<ActReply> {
      if (request.kind === "evaluate" || (request.kind === "wait" && request.fn !== undefined)) needEvaluation(options)
      needLibrary(`act:${request.kind}`)
      const tab = await pick(caller, request.targetId)
      if (request.kind === "close") {
        tab.checkTaken()
        const reply = await pageReply(tab)
        await registry.get(caller.profile).live?.tabs.close(tab)
        return reply
      }
      if (request.kind === "evaluate" || request.kind === "wait") guard.checkRead(tab)
      // What the page does now is the answer to an action that was looked at by itself.
      await guard.hold(tab, undefined)
      const { live } = registry.get(caller.profile)
      const step = "ref" in request ? `${request.kind} ${request.ref ?? ""}` : request.kind
      return await tellingRefusals(live, tab, async () => {
        const { title = "", ...outcome } = await traces.around(live, tab, step.trim(), () =>
          act(tab, request, {
            ...limits(`The ${request.kind}`, request.timeoutMs, caller),
            reveal: revealer(options, caller),
          }),
        )
        const shown = await freshSnapshot(tab, request.snapshot, guard, limits("", request.timeoutMs, caller))
        const closed = tab.isOpen ? {} : { closed: true as const }
        const reply = await pageReply(tab, request.snapshot === undefined ? title : shown.title)
        return { ...reply, ...outcome, ...shown.fresh, ...closed }
      })
    },
  }
}

/** How long a file that a page has asked for is waited for, to be told of in the answer. */
const refusalMs = 1_000

/** Says too which downloads the tab has begun that nobody waited for, each once: a late one next time. */
async function tellingRefusals<Result extends object>(
  live: LiveBrowser | undefined,
  tab: Tab,
  work: () => Promise<Result>,
): Promise<Result & { note?: string }> {
  const before = new Set(live?.tabs.list)
  // A link to a file, or a way to another page that ends in none.
  let asked = false
  const stop = tab.onNavigation((event) => {
    asked = event === "started" || event === "file" || (asked && event !== "ready")
  })
  const result = await work().finally(stop)
  if (!live) return result
  let refused = live.downloads.takeRefused(tab)
  // A new tab has its first page on the way, or a file.
  const opened = live.tabs.list.filter(
    (each) => each.info.openerId === tab.targetId && !before.has(each) && !each.hasBegun,
  )
  if (refused.length === 0 && (asked || opened.length > 0)) {
    const refusal = live.downloads.nextRefusal(tab, AbortSignal.timeout(refusalMs))
    await (asked ? refusal : Promise.race([refusal, Promise.all(opened.map(({ begun }) => begun))]))
    refused = live.downloads.takeRefused(tab)
  }
  const names = refused.map(({ suggestedFilename }) => safeName(suggestedFilename))
  if (names.length === 0) return result
  const what = [...new Set(names)].slice(0, 3).join(", ")
  return {
    ...result,
    note: `A download of ${what} was refused, because nobody waited for it. Use download with the ref of what gives the file, or wait for the download and do this again.`,
  }
}

/** What a tab pretends to be; values of headers may be secrets, passwords are. */
function overridesOf(tab: Tab): TabOverrides[] {
  const { headers, device, geolocation, ...state } = tab.overrides.state
  const { pair } = tab.credentials
  const shown = {
    ...state,
    ...(headers ? { headers: Object.keys(headers) } : {}),
    ...(device ? { device: device.name } : {}),
    ...(geolocation ? { geolocation: { ...geolocation, origin: geolocation.origin ?? null } } : {}),
    ...(pair ? { credentials: { username: pair.username, origin: pair.origin ?? null } } : {}),
  }
  return Object.keys(shown).length === 0 ? [] : [{ targetId: tab.targetId, ...shown }]
}

async function visit(
  tab: Tab,
  url: string,
  limits: { what: string; timeoutMs: number; signal?: AbortSignal | undefined },
  { guard, caller }: { guard: Guard; caller: Caller },
) {
  return tab.operate({ ...limits, renews: true }, async (operation) => {
    await placeFor(tab, url, guard, operation.signal)
    // From before it leaves until the next thing is done in the tab: pages also send themselves on.
    await guard.hold(tab, caller.staysOn?.may)
    const outcome = await navigate(tab, url, operation, (failed) => guard.explain(tab, failed)).catch(
      (error: unknown) => {
        throw guard.wasHeld(tab) ? leadsAway() : error
      },
    )
    try {
      // Where redirects have led counts as much as where they began.
      await guard.checkArrival(tab, operation.signal)
    } catch (error) {
      await navigate(tab, "about:blank", operation)
      throw error
    }
    return outcome
  })
}

function leadsAway(): AppError {
  return new AppError("navigation-refused", "The address leads to another site", {
    hint: "An address that this turn has made itself may not: open the front page of the site, and follow its links",
  })
}

function tabInfo(tab: Tab, isGuest: boolean): TabInfo {
  const guest = isGuest ? { guest: true as const } : {}
  return { targetId: tab.targetId, title: tab.info.title, url: tab.url, type: "page", ...guest }
}
