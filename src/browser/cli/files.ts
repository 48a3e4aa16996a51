// Commands about files: downloads and uploads.
import { type CommandSpec, plain, type Run } from "./command.ts"

interface DownloadReply {
  download: { path: string; bytes: number; suggestedFilename: string }
}

const timeoutFlag: [string, string] = ["--timeout-ms <n>", "how long to wait (default 120000)"]

export const fileCommands: CommandSpec[] = [
  {
    usage: "download <ref> <path>",
    description: "Click an element and save the file that it gives, below the downloads folder",
    example: "svc browser download e12 report.pdf",
    json: "DownloadReply",
    tab: true,
    flags: [timeoutFlag],
    perform: async (run, ref, path) => fetchFile(run, "/download", { ref, path }),
  },
  {
    usage: "waitfordownload [path]",
    description: "Wait for the next download and save it below the downloads folder",
    example: "svc browser waitfordownload report.pdf",
    json: "DownloadReply",
    tab: true,
    flags: [timeoutFlag],
    perform: async (run, path) => fetchFile(run, "/wait/download", path ? { path } : {}),
  },
  {
    usage: "upload <paths...>",
    description: "Give files of the uploads folder to the next file chooser, or to a file input at once",
    example: "svc browser upload photo.jpg --ref e12",
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
      const body = { paths, ref, inputRef, element, targetId, timeoutMs: options["timeoutMs"] }
      const reply = await send("POST", "/hooks/file-chooser", { body, timeoutMs: limitMs + 20_000 })
      const words = inputRef === undefined && element === undefined ? "upload armed for" : "uploaded"
      return { reply, show: () => io.print(`${words} ${paths.length} file(s)`) }
    },
  },
]

async function fetchFile({ send, io, options }: Run, path: string, more: object) {
  const { timeoutMs, targetId } = options
  // Above the service's own limit: its error says more than ours would.
  const limitMs = Number(timeoutMs ?? 120_000) + 20_000
  const reply = await send<DownloadReply>("POST", path, { body: { ...more, targetId, timeoutMs }, timeoutMs: limitMs })
  return { reply, show: () => io.print(`downloaded: ${plain(reply.download.path)} (${reply.download.bytes} bytes)`) }
}
