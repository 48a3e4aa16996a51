// The tools of the workspace: read, write, edit, list, exec. All of them work in the sandbox only, so what they reach is the
// workspace, whoever's words a call acts on; what they bring back may hold anybody's. With a network, which a call asks
// for, `exec` could carry something away: a tainted call asks an owner, one for somebody untrusted gets none, and so that a
// file is not run later that a tainted call has left, the workspace remembers that there may be one.
import { z } from "zod"
import type { Tool, ToolContext, ToolResult } from "../../agent/tool.ts"
import { AppError, type Ids, writeDurableFile } from "../../kernel/index.ts"
import { extname, join } from "node:path"
import { type RunCommand, describeEnd, shellLine } from "../commands.ts"
import type { Workspaces } from "../workspace.ts"
import type { SandboxSettings } from "../settings.ts"
import { type FileAsker, type Files, createFiles, maxSentBytes, maxTextBytes } from "./files.ts"

export const sandboxToolNames = ["read", "write", "edit", "list", "exec"] as const

export interface ToolsOptions {
  run: RunCommand
  settings(agentId: string): SandboxSettings
  /** Whether words of others may have made some of the workspace's files. */
  foreign: Pick<Workspaces, "makeForeign" | "hasForeign">
  /** `<state>/media`. */
  mediaFolder: string
  ids: Ids
}

const shownLines = 2_000
const pictures: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
}
const path = z.string()
/** A model that writes nonsense for a number means the least. */
const atLeastOne = (value: number) => Math.max(1, value)

export function createSandboxTools(options: ToolsOptions): Tool[] {
  const files = createFiles(options.run)
  const making: Making = (context, work) =>
    context.tainted ? options.foreign.makeForeign(askerOf(context), work) : work()
  return [
    readTool(options, files),
    writeTool(files, making),
    editTool(files, making),
    listTool(files),
    execTool(options),
  ] as Tool[]
}

function askerOf({ agentId, sessionKey, trusted, signal }: ToolContext): FileAsker {
  return { agentId, sessionKey, trusted, signal }
}

const text = (words: string, note?: string): ToolResult => ({
  content: [{ type: "text", text: words }],
  ...(note === undefined ? {} : { note }),
})

function readTool({ mediaFolder, ids }: ToolsOptions, files: Files): Tool {
  const input = z.strictObject({
    path: path.describe("In /work"),
    offset: z.int().optional().describe("First line"),
    limit: z.int().optional().describe("How many lines"),
    send: z.boolean().optional().describe("Gets the line that sends this file with your reply"),
  })
  return {
    name: "read",
    description: "Reads a file of your workspace, text or picture.",
    input,
    output: "untrusted",
    repeatable: () => true,
    async run(value, context) {
      const { path: name, send, ...range } = input.parse(value)
      const offset = atLeastOne(range.offset ?? 1)
      const limit = atLeastOne(range.limit ?? shownLines)
      const type = pictures[extname(name).toLowerCase()]
      const data = await files.read(askerOf(context), name, send || type ? maxSentBytes : maxTextBytes)
      if (send) {
        // A copy out of the box's reach: what is sent is what was read now.
        const kept = join(mediaFolder, "sandbox", `${ids.uuid()}${safeExtension(name)}`)
        await writeDurableFile(kept, data)
        return text(
          `${data.length} bytes`,
          `MEDIA:${kept}\nTo send this file, write the line above, as it is, on a line of its own in your reply.`,
        )
      }
      if (type) return { content: [{ type: "image", mediaType: type, data: data.toString("base64") }] }
      if (data.includes(0))
        throw new AppError("bad-request", `${name} is no text (${data.length} bytes)`, {
          hint: "send: true sends it; exec looks into it",
        })
      const lines = data.toString("utf8").split("\n")
      const shown = lines.slice(offset - 1, offset - 1 + limit)
      const rest = lines.length - (offset - 1) - shown.length
      return text(shown.join("\n"), rest > 0 ? `${rest} more lines from line ${offset + shown.length}.` : undefined)
    },
  }
}

function safeExtension(name: string): string {
  return /^\.[a-z0-9]{1,8}$/i.exec(extname(name))?.[0]?.toLowerCase() ?? ".bin"
}

/** Does what makes a file, of which is known whose words may be in it. */
type Making = <T>(context: ToolContext, work: () => Promise<T>) => Promise<T>

function writeTool(files: Files, making: Making): Tool {
  const input = z.strictObject({ path, content: z.string() })
  return {
    name: "write",
    description: "Writes a text file in your workspace, folders included.",
    input,
    output: "trusted",
    repeatable: () => true,
    async run(value, context) {
      const { path: name, content } = input.parse(value)
      const data = Buffer.from(content)
      await making(context, () => files.write(askerOf(context), name, data))
      return text(`Written: ${data.length} bytes.`)
    },
  }
}

function editTool(files: Files, making: Making): Tool {
  const input = z.strictObject({
    path,
    old: z.string().describe("Text to replace, exactly; must be there once"),
    new: z.string(),
    all: z.boolean().optional().describe("Every place"),
  })
  return {
    name: "edit",
    description: "Replaces text in a file of your workspace.",
    input,
    output: "trusted",
    repeatable: () => false,
    async run(value, context) {
      const { path: name, old, new: fresh, all } = input.parse(value)
      if (old === "") throw new AppError("bad-request", "old is empty", { hint: "write makes a file anew" })
      // By bytes: what else stands there may be no UTF-8, and stays.
      const before = (await files.read(askerOf(context), name, maxTextBytes)).toString("latin1")
      const parts = before.split(asBytes(old))
      const count = parts.length - 1
      if (count === 0)
        throw new AppError("not-found", "The file does not hold this text", {
          hint: "Read it, and copy the text with its spaces",
        })
      if (count > 1 && !all)
        throw new AppError("conflict", `The text is there ${count} times`, {
          hint: "Take more of what stands around it, or set all",
        })
      const after = Buffer.from(parts.join(asBytes(fresh)), "latin1")
      await making(context, () => files.write(askerOf(context), name, after))
      return text(`Replaced ${count === 1 ? "once" : `${count} times`}.`)
    },
  }
}

/** Each of its bytes a character. */
function asBytes(words: string): string {
  return Buffer.from(words).toString("latin1")
}

function listTool(files: Files): Tool {
  const input = z.strictObject({
    path: path.optional(),
    depth: z.int().optional().describe("Default 2"),
  })
  return {
    name: "list",
    description: "Lists files of your workspace with their sizes.",
    input,
    output: "untrusted",
    repeatable: () => true,
    async run(value, context) {
      const { path: folder = ".", depth = 2 } = input.parse(value)
      const { lines, isCut } = await files.list(askerOf(context), folder, Math.min(10, atLeastOne(depth)))
      return text(lines.join("\n") || "(empty)", isCut ? `Cut after ${lines.length}.` : undefined)
    },
  }
}

function execTool({ run, settings, foreign }: ToolsOptions): Tool {
  const input = z.strictObject({
    command: z.string(),
    timeout: z.int().optional().describe("Seconds"),
    network: z.boolean().optional().describe("Public internet by proxy, where it is allowed"),
  })
  return {
    name: "exec",
    description:
      "Runs a shell command in a sandbox whose folder is your workspace /work, kept between calls; all else is gone after each. Scripts of skills: /skills/<name>/.",
    input,
    output: "untrusted",
    repeatable: () => false,
    gate(value, context) {
      const { agentId, trusted, tainted } = context
      const { command, network } = input.parse(value)
      if (!network) return undefined
      if (!settings(agentId).exec.network) {
        throw new AppError("forbidden", "Commands have no network here", {
          hint: "Use the browser. The operator's key is agents.defaults.sandbox.exec.network",
        })
      }
      if (!trusted) throw new AppError("forbidden", "This turn acts on words of others: its commands have no network")
      if (!tainted && !foreign.hasForeign(askerOf(context))) return undefined
      const where = tainted
        ? "words of others are in this turn"
        : "words of others may have made files of the workspace"
      return {
        reason: `The command would have a network, and ${where}`,
        summary: `Run a command that can reach the internet${tainted ? "" : ", beside files that words of others may have made"}`,
        action: { command, network: true },
      }
    },
    async run(value, context) {
      const { command, timeout, network = false } = input.parse(value)
      const { exec } = settings(context.agentId)
      const timeoutMs = Math.min(atLeastOne(timeout ?? exec.timeoutSeconds), exec.timeoutSeconds) * 1000
      const asker = askerOf(context)
      const work = () => run(asker, { argv: shellLine(command), timeoutMs, network, signal: context.signal })
      // What comes over the network are words of others as well.
      const result = await (context.tainted || network ? foreign.makeForeign(asker, work) : work())
      const failed = result.end.kind !== "ended" || result.end.code !== 0
      return {
        ...text(result.output.toString("utf8").trimEnd(), `${describeEnd(result, timeoutMs)}.`),
        ...(failed ? { isError: true } : {}),
      }
    },
  }
}
