// Files that go to pages and come from them: only from `<state>/uploads`, only into `<state>/downloads`.
import { join } from "node:path"
import { AppError } from "../../kernel/index.ts"
import { type CoreOptions, createAccess, limits } from "../access.ts"
import type { Caller } from "../caller.ts"
import { copyToMedia } from "../media.ts"
import { act } from "../page/act.ts"
import type { DownloadProgress, FinishedDownload } from "../page/downloads.ts"
import { setInputFiles } from "../page/file-chooser.ts"
import { addressOfFrame } from "../page/frame-address.ts"
import { elementExpression } from "../page/frames.ts"
import type { Tab } from "../page/tab.ts"
import type { ChooserRequest, DownloadRequest, WaitDownloadRequest } from "../requests/index.ts"
import { safeName } from "./safe-name.ts"
import { moveInto, pathToRead, pathToWrite } from "./safe-path.ts"

export interface DownloadReply {
  ok: true
  targetId: string
  download: { url: string; suggestedFilename: string; path: string; bytes: number }
  mediaPath?: string
}

interface Destination {
  path?: string | undefined
  /** Also keeps a copy below the media root, under a name that is ours alone: replies may send that one. */
  sendable?: boolean
}

/** A file of this size no chat takes any more. */
const maxSendableBytes = 50 * 1024 * 1024

function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,5})$/i.exec(name)?.[1] ?? "bin"
}

/** More is not fetched for anyone. */
const maxBytes = 2 * 1024 * 1024 * 1024

const whereDownloadsGo = "downloads go where the person's browser puts them; click what gives the file instead"

const plainClick = { kind: "click" as const, doubleClick: false, button: "left" as const, modifiers: [] }

function needSharedFiles({ name, sharesFiles }: { name: string; sharesFiles: boolean }): void {
  if (sharesFiles) return
  throw new AppError("profile-unsupported", `The browser of profile ${name} has no files of this machine`, {
    hint: "Use a managed profile for uploads and downloads",
  })
}

export function fileOperations(options: CoreOptions) {
  const { stateFolder, ids, clock, background, registry, guard } = options
  const { needLibrary, needWholeBrowser, pick } = createAccess(options)
  const downloads = join(stateFolder, "downloads")
  const uploads = join(stateFolder, "uploads")
  const readable = (paths: string[]) => Promise.all(paths.map((path) => pathToRead(uploads, path)))

  async function fetchFile(
    caller: Caller,
    tab: Tab,
    request: Destination & { timeoutMs: number },
    trigger: () => Promise<unknown>,
  ): Promise<DownloadReply> {
    if (request.path !== undefined) await pathToWrite(downloads, request.path)
    const limits = { folder: join(downloads, ".part"), maxBytes, timeoutMs: request.timeoutMs, signal: caller.signal }
    const { downloads: ofBrowser } = await registry.get(caller.profile).ensure(caller.signal)
    const file: FinishedDownload = await ofBrowser.wait(tab, limits, trigger)
    const name = safeName(file.suggestedFilename)
    const path = await moveInto(file.partPath, downloads, request.path ?? `${ids.uuid()}-${name}`)
    const copied = request.sendable === true && file.bytes <= maxSendableBytes
    const mediaPath = copied ? await copyToMedia(options, path, extensionOf(name)) : undefined
    return {
      ok: true,
      targetId: tab.targetId,
      download: { url: file.url, suggestedFilename: name, path, bytes: file.bytes },
      ...(mediaPath === undefined ? {} : { mediaPath }),
    }
  }

  return {
    /** Downloads that somebody waits for; starts no browser. */
    downloadsUnderWay(caller: Caller): { downloads: DownloadProgress[] } {
      const { live } = registry.get(caller.profile)
      const tabs = live ? live.tabs.listIn(guard.spaceOf(live, caller)) : []
      const downloads = live?.downloads.underWay(tabs) ?? []
      return { downloads: downloads.map((one) => ({ ...one, suggestedFilename: safeName(one.suggestedFilename) })) }
    },
    /** Gives files to an input at once (inputRef, element), or to the next chooser, which `ref` is clicked to open. */
    async chooseFiles(caller: Caller, request: ChooserRequest): Promise<{ ok: true; targetId: string }> {
      needLibrary("file chooser hook")
      needSharedFiles(registry.get(caller.profile))
      await readable(request.paths)
      const tab = await pick(caller, request.targetId)
      const { inputRef, element, ref } = request
      if (inputRef !== undefined || element !== undefined) {
        await tab.operate(limits("The upload", request.timeoutMs, caller), async ({ signal }) => {
          const entry = inputRef === undefined ? undefined : tab.refs.resolve(inputRef, tab)
          const world = entry?.world ?? (await tab.frames.world(tab.frames.main, signal))
          const expression = entry
            ? elementExpression(world, entry.id)
            : `document.querySelector(${JSON.stringify(element)})`
          await setInputFiles(world, expression, await readable(request.paths), signal)
        })
        return { ok: true, targetId: tab.targetId }
      }
      await tab.attach()
      const files = () => readable(request.paths)
      const { staysOn } = caller
      const mayHave = staysOn && ((id: string) => staysOn.may(addressOfFrame(tab, tab.frames.get(id))))
      await tab.chooser.arm(tab, { timeoutMs: request.timeoutMs, files, mayHave, background, clock })
      if (ref !== undefined) await clickToOpen(tab, ref, caller)
      return { ok: true, targetId: tab.targetId }
    },
    async download(caller: Caller, request: Omit<DownloadRequest, "path"> & Destination): Promise<DownloadReply> {
      needLibrary("download")
      needWholeBrowser(caller, whereDownloadsGo)
      needSharedFiles(registry.get(caller.profile))
      if (request.path !== undefined) await pathToWrite(downloads, request.path)
      const tab = await pick(caller, request.targetId)
      const click = { ...plainClick, ref: request.ref, timeoutMs: 8_000 }
      return fetchFile(caller, tab, request, () => act(tab, click, limits("The click", 8_000, caller)))
    },
    async waitDownload(caller: Caller, request: WaitDownloadRequest & Destination): Promise<DownloadReply> {
      needLibrary("wait for download")
      needWholeBrowser(caller, whereDownloadsGo)
      needSharedFiles(registry.get(caller.profile))
      if (request.path !== undefined) await pathToWrite(downloads, request.path)
      return fetchFile(caller, await pick(caller, request.targetId), request, () => Promise.resolve())
    },
  }
}

async function clickToOpen(tab: Tab, ref: string, caller: Caller): Promise<void> {
  try {
    await act(tab, { ...plainClick, ref, timeoutMs: 8_000 }, limits("The click", 8_000, caller))
  } catch (error) {
    // Whoever opens a chooser later must not get the files of a call that has failed.
    await tab.chooser.disarm()
    throw error
  }
}
