// Commands about files: downloads and uploads.
import { randomUUID } from "node:crypto"
import type { Reply } from "../contract.ts"
import { type CommandSpec, plain, type Run } from "./command.ts"

/** How often a person who waits for a download is told of it. */
const noteEveryMs = 1_000

const timeoutFlag: [string, string] = ["--timeout-ms <n>", "how long to wait (default 120000)"]

export const fileCommands: CommandSpec[] = [
  {
    usage: "download <ref> <path>",
    description: "Click an element and save the file that it gives",
    example: "svc browser download e12 report.pdf",
    json: "DownloadReply",
    tab: true,
    flags: [timeoutFlag],
    perform: async (run, ref, path) => fetchFile(run, "/download", { ref, path: randomUUID() }, path),
  },
  {
    usage: "waitfordownload [path]",
    description:
      "Wait for the next download and save it, below the gateway's downloads folder unless a path says where",
    example: "svc browser waitfordownload report.pdf",
    json: "DownloadReply",
    tab: true,
    flags: [timeoutFlag],
    perform: async (run, path) => fetchFile(run, "/wait/download", {}, path),
  },
  {
    usage: "downloads",
    description: "List the downloads that somebody waits for, and how far they are",
    example: "svc browser downloads --json",
    json: "DownloadsReply",
    perform: async ({ send, io }) => {
      const reply = await send<Reply<"DownloadsReply">>("GET", "/downloads")
      const lines = reply.downloads.map((one) => `${one.targetId} ${progressWords(one)}`)
      return { reply, show: () => io.print(lines.length > 0 ? lines.join("\n") : "no downloads under way") }
    },
  },
  {
    usage: "upload <paths...>",
    description: "Give files to the next file chooser, or to a file input at once",
    example: "svc browser upload ~/photo.jpg --ref e12",
    json: "Done",
    tab: true,
    flags: [
      ["--ref <ref>", "click this element, which opens the chooser"],
      ["--input-ref <ref>", "the file input itself"],
      ["--element <css>", "the file input itself, by CSS selector"],
      timeoutFlag,
    ],
    perform: async ({ send, io, options }, ...paths) => {
      const { ref, inputRef, element, targetId } = options
      const limitMs = Number(options["timeoutMs"] ?? 120_000)
      const lent = await Promise.all(paths.map((path) => io.lend(path, options)))
      const body = { paths: lent, ref, inputRef, element, targetId, timeoutMs: options["timeoutMs"] }
      const reply = await send("POST", "/hooks/file-chooser", { body, timeoutMs: limitMs + 20_000 })
      const words = inputRef === undefined && element === undefined ? "upload armed for" : "uploaded"
      return { reply, show: () => io.print(`${words} ${paths.length} file(s)`) }
    },
  },
]

async function fetchFile(run: Run, path: string, more: object, wanted?: string) {
  const { send, io, options } = run
  const { timeoutMs, targetId } = options
  // Above the service's own limit: its error says more than ours would.
  const limitMs = Number(timeoutMs ?? 120_000) + 20_000
  const notes = setInterval(() => void noteProgress(run), noteEveryMs)
  try {
    const body = { ...more, targetId, timeoutMs }
    const reply = await send<Reply<"DownloadReply">>("POST", path, { body, timeoutMs: limitMs })
    const { download } = reply
    if (wanted) download.path = await io.place(download.path, wanted, download.suggestedFilename)
    return { reply, show: () => io.print(`downloaded: ${plain(reply.download.path)} (${reply.download.bytes} bytes)`) }
  } finally {
    clearInterval(notes)
  }
}

/** What goes wrong here is told by the call that waits. */
async function noteProgress({ send, io, options }: Run): Promise<void> {
  const { downloads } = await send<Reply<"DownloadsReply">>("GET", "/downloads").catch(() => ({ downloads: [] }))
  for (const one of downloads) {
    if (options.targetId === undefined || one.targetId.startsWith(options.targetId)) io.note(progressWords(one))
  }
}

function progressWords(download: Reply<"DownloadsReply">["downloads"][number]): string {
  const { suggestedFilename, receivedBytes, totalBytes } = download
  const share =
    totalBytes === undefined ? "" : ` of ${totalBytes} (${Math.floor((100 * receivedBytes) / totalBytes)} %)`
  return `downloading ${plain(suggestedFilename)}: ${receivedBytes}${share} bytes`
}
