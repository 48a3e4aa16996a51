// What the owner has written down for the agent, as part of the system prompt: the files of its workspace, whole as far as
// they have room. They are the operator's words. What is private in them is shown only where the owner is alone with it.
import { type Log, readInside } from "../../kernel/index.ts"

export interface WorkspaceFile {
  name: string
  text: string
  /** The rest was left out. */
  isCut: boolean
}

export interface WorkspaceLimits {
  /** Characters of one file, and of all together; 0: none is shown. */
  maxChars: number
  /** Those of MEMORY.md; 0: it is not shown. */
  memoryChars: number
  totalChars: number
}

const ownNotes = "MEMORY.md"

/** In this order; `isPrivate`: about the owner, so for private chats with people of standing and heartbeats alone. */
export const workspaceFiles = [
  { name: "AGENTS.md", isPrivate: false },
  { name: "SOUL.md", isPrivate: false },
  { name: "TOOLS.md", isPrivate: false },
  { name: "USER.md", isPrivate: true },
  // Last: the agent writes it itself, and what stands before it stays as it is.
  { name: ownNotes, isPrivate: true },
] as const

/** Beyond that nobody has written it for a prompt. */
const maxBytes = 1024 * 1024

export function readWorkspaceFiles(
  folder: string,
  { isPrivate, limits, log }: { isPrivate: boolean; limits: WorkspaceLimits; log: Log },
): WorkspaceFile[] {
  const files: WorkspaceFile[] = []
  let left = limits.totalChars
  for (const { name, isPrivate: isOwners } of workspaceFiles) {
    if (isOwners && !isPrivate) continue
    const isOwn = name === ownNotes
    const maxChars = isOwn ? Math.min(limits.maxChars, limits.memoryChars) : limits.maxChars
    if (maxChars === 0 || limits.totalChars === 0) continue
    const file = readInside(folder, name, maxBytes)
    if (file.kind === "refused") log.warn({ folder, file: name, reason: `it ${file.reason}` }, "file is not read")
    if (file.kind !== "file") continue
    const whole = file.data.toString("utf8").trim()
    if (whole === "") continue
    const text = cut(whole, Math.min(maxChars, left))
    // Its own notes are found beyond what is shown.
    if (text.length < whole.length && !isOwn)
      log.warn(
        { folder, file: name, characters: whole.length, shown: text.length },
        "file is longer than the prompt takes",
      )
    left -= text.length
    files.push({ name, text, isCut: text.length < whole.length })
  }
  return files
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, Math.max(0, length)).replace(/[\ud800-\udbff]$/, "")
}

export function describeWorkspace(files: readonly WorkspaceFile[]): string[] {
  const written = files.filter(({ name }) => name !== ownNotes)
  const noted = files.filter(({ name }) => name === ownNotes)
  return [
    ...(written.length === 0 ? [] : ["What your operator has written down for you:"]),
    ...written.map((file) => describeFile(file, "(The rest has no room here.)")),
    ...(noted.length === 0 ? [] : ["What you have noted yourself, to know it now:"]),
    ...noted.map((file) => describeFile(file, "(memory_search finds the rest.)")),
  ]
}

function describeFile({ name, text, isCut }: WorkspaceFile, rest: string): string {
  return `## ${name}\n${text}${isCut ? `\n${rest}` : ""}`
}
