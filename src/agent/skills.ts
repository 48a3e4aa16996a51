// Skills: the operator's written instructions for kinds of work, `<workspace>/skills/<name>/SKILL.md`. The system prompt
// names them; the model reads one with the tool `skill` when it has work of that kind. Read anew for every turn.
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { AppError, type Log, readInside } from "../kernel/index.ts"
import type { Tool } from "./tool.ts"

export interface Skill {
  name: string
  /** One line: when to use it. */
  description: string
  text: string
}

/** Enough for a long manual; a larger file would fill the model's context. */
const maxBytes = 64 * 1024
const maxSkills = 100
const maxDescription = 300
const namePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Reads skills in the order of their names. Unusable folders are left out; the log is told when that changes. */
export function createSkillsReader(log: Log): (workspace: string) => Skill[] {
  /** What was told last, by workspace: every turn reads its skills. */
  const told = new Map<string, string>()
  return (workspace) => {
    const folder = skillsFolder(workspace)
    const count = listFolders(folder).length
    const found = inspectSkills(workspace)
    const problems = found.filter((one) => "problem" in one)
    const news = JSON.stringify([count > maxSkills ? count : 0, problems])
    if (told.get(workspace) !== news) {
      told.set(workspace, news)
      if (count > maxSkills) log.warn({ folder, skills: count, read: maxSkills }, "too many skills")
      for (const { name, problem } of problems) log.warn({ skill: name, reason: problem }, "skill left out")
    }
    return found.filter((one): one is Skill => !("problem" in one))
  }
}

/** The same with those that cannot be used, and why. */
export function inspectSkills(workspace: string): (Skill | { name: string; problem: string })[] {
  const names = listFolders(skillsFolder(workspace)).slice(0, maxSkills)
  return names.map((name) => {
    const result = readSkill(workspace, name)
    return typeof result === "string" ? { name, problem: result } : result
  })
}

export function skillsFolder(workspace: string): string {
  return join(workspace, "skills")
}

/** What `only` names: undefined is all, an empty list none. */
export function selectSkills(skills: readonly Skill[], only: readonly string[] | undefined): readonly Skill[] {
  return only === undefined ? skills : skills.filter((skill) => only.includes(skill.name))
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    // None was made, or something else has the name.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return []
    throw error
  }
}

/** The skill, or why there is none. */
function readSkill(workspace: string, name: string): Skill | string {
  if (!namePattern.test(name)) return "the folder's name must be lower-case letters, digits, - and _"
  const file = readInside(workspace, join("skills", name, "SKILL.md"), maxBytes)
  if (file.kind === "none") return "there is no file SKILL.md"
  if (file.kind === "refused") return `SKILL.md ${file.reason}`
  const parts = splitHeader(file.data.toString("utf8"))
  if (!parts) return "its header begins with --- and has no line --- that ends it"
  const { description, body } = parts
  if (body === "") return "SKILL.md is empty"
  const firstLine = body.split("\n", 1)[0] ?? ""
  return { name, description: (description ?? firstLine.replace(/^#+\s*/, "")).slice(0, maxDescription), text: body }
}

/** `---`, lines of `key: value`, `---`, then the text. Only `description` is looked at. */
function splitHeader(file: string): { description?: string; body: string } | undefined {
  const text = file.replace(/^\ufeff/, "").replaceAll("\r\n", "\n")
  const header = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(text)
  if (!header) return text.startsWith("---\n") ? undefined : { body: text.trim() }
  const description = readDescription((header[1] as string).split("\n"))
  return { ...(description ? { description } : {}), body: text.slice(header[0].length).trim() }
}

/** What follows indented belongs to it, as in YAML, with `>` or `|` in front or without. */
function readDescription(lines: readonly string[]): string | undefined {
  const key = "description:"
  const at = lines.findIndex((line) => line.startsWith(key))
  if (at === -1) return undefined
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => /^[^ \t]/.test(line))
  const first = (lines[at] as string).slice(key.length).trim()
  const words = [/^[>|][+-]?$/.test(first) ? "" : first, ...(end === -1 ? rest : rest.slice(0, end))]
  const joined = words
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
  return joined.replace(/^"(.*)"$|^'(.*)'$/, "$1$2")
}

const input = z.strictObject({ name: z.string().describe("Name of the skill.") })

export function createSkillTool(skills: readonly Skill[]): Tool<z.infer<typeof input>> {
  return {
    name: "skill",
    description: "Reads the instructions of a skill. Do so before work of its kind.",
    input,
    output: "trusted",
    repeatable: () => true,
    async run({ name }) {
      const skill = skills.find((each) => each.name === name)
      if (!skill) {
        const names = skills.map((each) => each.name).join(", ")
        throw new AppError("not-found", `There is no skill ${JSON.stringify(name)}`, { hint: `There are: ${names}` })
      }
      return { content: [{ type: "text", text: skill.text }] }
    },
  }
}
