// The folder that an agent's commands work in, /work: one of the agent for those who may command it, one of its own for the
// session of anybody else, gone with that session. Neither holds HEARTBEAT.md or skills: what a command writes never
// becomes an instruction. Skills are there to be read.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppError, writeDurableFile } from "../kernel/index.ts"
import { type Mount, skillsFolder, workFolder } from "./contract.ts"

export interface WorkspaceOptions {
  stateFolder: string
  /** Of the agent: where HEARTBEAT.md and `skills` are. */
  workspace(agentId: string): string
  /** Names of the skills that the agent may have; undefined: all. */
  skills(agentId: string): readonly string[] | undefined
  /** The id that the key of a session stands for now. */
  sessionId(sessionKey: string): string | undefined
  /** Whether any session still has this id. */
  isCurrent(sessionId: string): boolean
}

/** As the agent takes them. */
const skillName = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The file that says that words of others may have made some of the files in `work`. */
export const foreignMark = "work.foreign"
const markWords =
  "Some of the files in work/ may be what words of others have made of them, so commands with a network are asked about.\n" +
  "Remove this file when you have looked through them; it goes by itself when work/ is empty.\n"

export interface Asker {
  agentId: string
  sessionKey: string
  trusted: boolean
}

export class Workspaces {
  readonly #options: WorkspaceOptions
  readonly #sessions: string
  /** How many calls are making such files, by the mark of the folder, which agents share where none has its own. */
  readonly #making = new Map<string, number>()

  constructor(options: WorkspaceOptions) {
    this.#options = options
    this.#sessions = join(options.stateFolder, "sandbox", "sessions")
  }

  /** The folder on this machine; made when it is missing. */
  folder({ agentId, sessionKey, trusted }: Asker): string {
    const { workspace, sessionId } = this.#options
    if (trusted) return made(join(workspace(agentId), "work"))
    const id = sessionId(sessionKey)
    if (id === undefined) throw new AppError("conflict", "The session has ended")
    return made(join(this.#sessions, id, "work"))
  }

  /**
   * Does what may make files of words of others; that there may be such is durable before it begins. In the folder of a
   * session without standing all are.
   */
  async makeForeign<T>({ agentId, trusted }: Asker, work: () => Promise<T>): Promise<T> {
    if (!trusted) return await work()
    const mark = this.#mark(agentId)
    this.#making.set(mark, (this.#making.get(mark) ?? 0) + 1)
    try {
      if (!existsSync(mark)) await writeDurableFile(mark, markWords)
      return await work()
    } finally {
      const left = (this.#making.get(mark) ?? 1) - 1
      if (left > 0) this.#making.set(mark, left)
      else this.#making.delete(mark)
    }
  }

  /** Until the folder is empty again, or an owner has removed the mark. */
  hasForeign(asker: Asker): boolean {
    if (!asker.trusted) return true
    const mark = this.#mark(asker.agentId)
    // A file that is still being made is not there to be seen.
    if (this.#making.has(mark)) return true
    if (!existsSync(mark)) return false
    if (readdirSync(this.folder(asker)).length > 0) return true
    rmSync(mark, { force: true })
    return false
  }

  /** Beside the folder, where no command reaches it, and where it goes with the folder into a backup. */
  #mark(agentId: string): string {
    return join(this.#options.workspace(agentId), foreignMark)
  }

  mounts(asker: Asker): Mount[] {
    const { workspace, skills } = this.#options
    const own: Mount = { source: this.folder(asker), target: workFolder, writable: true }
    if (!asker.trusted) return [own]
    const folder = join(workspace(asker.agentId), "skills")
    const allowed = skills(asker.agentId)
    const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
    // A box does not begin with a mount that leads nowhere.
    const isThere = (name: string) => skillName.test(name) && isFolder(join(folder, name))
    const there = isFolder(folder) ? readdirSync(folder).filter(isThere) : []
    const names = there.filter((name) => allowed?.includes(name) ?? true)
    return [own, ...names.map((name) => ({ source: join(folder, name), target: `${skillsFolder}/${name}` }))]
  }

  /** Removes the folders of sessions that are over. */
  sweep(): number {
    if (!existsSync(this.#sessions)) return 0
    const over = readdirSync(this.#sessions).filter((id) => !this.#options.isCurrent(id))
    for (const id of over) rmSync(join(this.#sessions, id), { recursive: true, force: true })
    return over.length
  }
}

function made(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}
