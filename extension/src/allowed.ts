// Everything that may be done in an attached tab, by method and parameter. A debugger at one tab reaches much further than
// the tab: cookies of every site, files, the whole browser. Consent is one tab, so what is not here is refused, whoever asks.
// This file is the whole of the promise, and runs in the browser of the person who gave it.

type Params = Record<string, unknown>

export interface Place {
  /** Of the page that the tab shows. */
  url: string
  /** Whether a script context is one of the page or of ours, and not of another extension. */
  isPageContext(contextId: number): boolean
}

/** Gives the parameters as they are passed on, or throws `Refused`. */
type Check = (params: Params, place: Place) => Params

/** Words for whoever asked. */
export class Refused extends Error {}

const asIs: Check = (params) => params

function refuse(why: string): never {
  throw new Refused(why)
}

function text(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** Pages of the web, and the blank one: never files, the browser's own pages or scripts in place of an address. */
export function isWebAddress(value: unknown): boolean {
  const url = text(value)
  return url === "about:blank" || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
}

/** What a page of the web may come to show by itself, besides. */
export function isPageAddress(url: string): boolean {
  return /^(https?|about|data|blob|chrome-error):/i.test(url) || url === ""
}

const navigate: Check = (params) =>
  isWebAddress(params["url"]) ? params : refuse("Only http and https addresses may be opened")

/** The cookies that the page shown was given, and no other site's: always by address, never all that there are. */
const ownCookies: Check = ({ urls }, { url }) => {
  if (!/^https?:/.test(url)) refuse("The tab shows no page that has cookies")
  const wanted = Array.isArray(urls) && urls.length > 0 ? urls : [url]
  const isOwn = (each: unknown) => URL.canParse(text(each)) && new URL(text(each)).origin === new URL(url).origin
  return wanted.every(isOwn) ? { urls: wanted } : refuse("Only cookies of the page that the tab shows may be read")
}

/** Scripts of other extensions live in the same page, some with more rights than any page. */
function checkContext(contextId: unknown, place: Place): void {
  if (contextId === undefined) return
  if (typeof contextId !== "number" || !place.isPageContext(contextId))
    refuse("The script context is not one of the page")
}

/** `<isolate>.<context>.<number>`: an object names the context that it lives in. */
function checkObject(objectId: unknown, place: Place): void {
  if (objectId === undefined) return
  const context = Number(text(objectId).split(".").at(-2))
  if (!Number.isInteger(context) || !place.isPageContext(context)) refuse("The object is not one of the page")
}

const inPage: Check = (params, place) => {
  // It names contexts in a way that cannot be looked up here.
  if (params["uniqueContextId"] !== undefined || params["uniqueId"] !== undefined)
    refuse("Script contexts are named by contextId here")
  checkContext(params["contextId"], place)
  checkContext(params["executionContextId"], place)
  checkObject(params["objectId"], place)
  checkObject(params["promiseObjectId"], place)
  for (const each of Array.isArray(params["arguments"]) ? (params["arguments"] as unknown[]) : [])
    checkObject((each as Params | null)?.["objectId"], place)
  return params
}

const isolatedWorld: Check = (params) => {
  // The spelling is the protocol's own.
  const isUniversal = params["grantUniveralAccess"] ?? params["grantUniversalAccess"]
  return isUniversal ? refuse("A world without the walls between sites is not made") : params
}

/** Frames and workers of the page itself. Never held up: a page must not hang while nobody is there to let it go on. */
const autoAttach: Check = ({ autoAttach }) => ({
  autoAttach: autoAttach === true,
  waitForDebuggerOnStart: false,
  flatten: true,
  filter: [{ type: "iframe" }, { type: "worker" }],
})

/** Without files: a page could read them. */
const drag: Check = (params) => {
  const files = (params["data"] as Params | undefined)?.["files"]
  return Array.isArray(files) && files.length > 0 ? refuse("Files may not be dropped on a page") : params
}

/** Passed on as it is, but for a login: another address or body would be asked for in the name of the page. */
const goOn: Check = (params) => {
  const { requestId, headers, interceptResponse, ...others } = params
  if (Object.keys(others).length > 0) refuse("A request may not be changed into another")
  return {
    requestId,
    ...(headers === undefined ? {} : { headers }),
    ...(interceptResponse ? { interceptResponse } : {}),
  }
}

const asText: Check = (params) =>
  params["transferMode"] === "ReturnAsStream" ? refuse("The document is given whole, not as a stream") : params

function all(domain: string, names: string, check: Check = asIs): [string, Check][] {
  return names.split(" ").map((name) => [`${domain}.${name}`, check])
}

/** By method, for a tab and for the frames and workers below it. */
const tabMethods: ReadonlyMap<string, Check> = new Map([
  ...all("Accessibility", "enable disable getAXNodeAndAncestors getChildAXNodes getFullAXTree getRootAXNode"),
  ...all("Accessibility", "getPartialAXTree queryAXTree", inPage),
  ...all("DOM", "enable disable getBoxModel getContentQuads getDocument getFrameOwner getNodeForLocation"),
  ...all("DOM", "describeNode focus getOuterHTML requestNode resolveNode scrollIntoViewIfNeeded", inPage),
  ...all("DOM", "querySelector querySelectorAll pushNodesByBackendIdsToFrontend"),
  // Works only where the person lets the extension read files, which Chrome asks for by itself.
  ...all("DOM", "setFileInputFiles", inPage),
  ...all("Emulation", "clearDeviceMetricsOverride setDeviceMetricsOverride setDefaultBackgroundColorOverride"),
  ...all("Emulation", "clearGeolocationOverride setGeolocationOverride setEmulatedMedia setFocusEmulationEnabled"),
  ...all("Emulation", "setLocaleOverride setTimezoneOverride setTouchEmulationEnabled setUserAgentOverride"),
  ...all("Fetch", "enable disable failRequest continueWithAuth"),
  ...all("Fetch", "continueRequest", goOn),
  ...all("Input", "dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent insertText setInterceptDrags"),
  ...all("Input", "dispatchDragEvent", drag),
  ...all("Log", "enable disable clear"),
  ...all("Network", "enable disable emulateNetworkConditions getRequestPostData getResponseBody"),
  ...all("Network", "setCacheDisabled setExtraHTTPHeaders"),
  ...all("Network", "getCookies", ownCookies),
  ...all("Page", "addScriptToEvaluateOnNewDocument removeScriptToEvaluateOnNewDocument bringToFront captureScreenshot"),
  ...all("Page", "enable disable getFrameTree getLayoutMetrics handleJavaScriptDialog reload stopLoading"),
  ...all("Page", "setInterceptFileChooserDialog setLifecycleEventsEnabled"),
  ...all("Page", "screencastFrameAck startScreencast stopScreencast"),
  ...all("Page", "createIsolatedWorld", isolatedWorld),
  ...all("Page", "navigate", navigate),
  ...all("Page", "printToPDF", asText),
  ...all("Performance", "enable disable getMetrics"),
  ...all(
    "Runtime",
    "enable disable addBinding removeBinding releaseObjectGroup runIfWaitingForDebugger terminateExecution",
  ),
  ...all("Runtime", "awaitPromise callFunctionOn evaluate getProperties releaseObject", inPage),
  ...all("Target", "setAutoAttach", autoAttach),
])

/** About tabs themselves; which of them may be closed, and whether any may be opened, `tabs.ts` knows. */
const browserMethods: ReadonlyMap<string, Check> = new Map([
  ...all("Target", "activateTarget closeTarget"),
  ...all("Target", "createTarget", (params) =>
    isWebAddress(params["url"] ?? "about:blank") ? params : refuse("Only http and https addresses may be opened"),
  ),
])

/** What a tab that shows no page of the web is still good for: being sent to one. */
const elsewhere = new Set(
  "Page.navigate Page.enable Target.setAutoAttach Runtime.enable Network.enable Log.enable".split(" "),
)

export const allowedMethods = { tab: [...tabMethods.keys()], browser: [...browserMethods.keys()] }

/** Parameters as they are passed on. Throws `Refused`. */
export function checkTabCommand(method: string, params: Params, place: Place): Params {
  const check = tabMethods.get(method)
  if (!check) refuse(`${method.slice(0, 80)} is not on the extension's list`)
  if (!isPageAddress(place.url) && !elsewhere.has(method)) refuse("The tab shows no page of the web")
  return check(params, place)
}

export function checkBrowserCommand(method: string, params: Params): Params {
  const check = browserMethods.get(method)
  return check
    ? check(params, { url: "", isPageContext: () => false })
    : refuse(`${method.slice(0, 80)} is not on the extension's list`)
}
