// `svc update` as a program of its own, where the update meets backups, the service and the store. Everything is imported at
// the top: after the switch the files of this version are no longer where they were.
import { statSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import type { Command } from "commander"
import { createBackup } from "../backup/create.ts"
import { copyDatabase } from "../backup/database.ts"
import { type Config, loadConfigFile, readEnvironment, resolveHome } from "../config/index.ts"
import { AppError, makeFolder, systemClock, systemIds } from "../kernel/index.ts"
import { canUse, migrate, migrations, readableFrom, tryFileLock } from "../store/index.ts"
import { openSqlite } from "../store/sqlite.ts"
import { type UpdateCommandIo, type UpdateWords, registerUpdateCommands as register } from "../update/cli.ts"
import { type UpdateParts, findPlace, isBetweenDatabases } from "../update/index.ts"
import { findRunner } from "./update-runner.ts"
import { version } from "./version.ts"

export interface UpdateProgramIo extends Omit<UpdateCommandIo, "prepare" | "migrate"> {
  variables: NodeJS.ProcessEnv
  /** Real path of the started file. */
  programFile: string
  interrupted(): AbortSignal
}

export function registerUpdateCommands(program: Command, io: UpdateProgramIo): void {
  register(program, { ...io, prepare: (words) => prepare(words, io), migrate: migrateFolder })
}

async function prepare(words: UpdateWords, io: UpdateProgramIo): Promise<UpdateParts> {
  const { programFile, note: progress } = io
  const variables: NodeJS.ProcessEnv = {
    ...io.variables,
    ...(words.stateDir === undefined ? {} : { SVC_STATE_DIR: words.stateDir }),
    ...(words.config === undefined ? {} : { SVC_CONFIG_PATH: words.config }),
  }
  const { stateFolder, configPath, home } = readEnvironment(variables)
  const place = findPlace({ program: programFile, packagedAs: variables["SVC_PACKAGED_AS"] })
  // A way back that was cut off may have left only the database of the version before.
  if (!statSync(join(stateFolder, "svc.db"), { throwIfNoEntry: false }) && !isBetweenDatabases(stateFolder)) {
    throw new AppError("not-found", `${stateFolder} holds no gateway's data`, {
      hint: "name the state folder: --state-dir <dir>; without one there is nothing to be careful about: npm install --global svc-gateway@latest",
    })
  }
  const signal = io.interrupted()
  const owner = ownerOf(stateFolder)
  const runner = await findRunner({ words, variables, stateFolder, place, owner, progress, signal })
  const watched = { progress: () => undefined, signal }
  return {
    place,
    stateFolder,
    configPath,
    node: process.execPath,
    runner,
    owner,
    variables,
    progress,
    signal,
    tryLock: tryFileLock,
    async createBackup() {
      const folder = backupFolder(configPath, variables, { home, stateFolder })
      const made = await createBackup({
        stateFolder,
        configPath,
        variables,
        folder,
        version: version(),
        clock: systemClock,
        ids: systemIds,
        ...watched,
      })
      return made.archive
    },
    copyDatabase: async (target) => void (await copyDatabase(stateFolder, target, { now: Date.now, ...watched })),
    canUse: databaseIsUsable,
  }
}

/** Whose the state folder is, when root works on what belongs to somebody else. */
function ownerOf(stateFolder: string): { uid: number; gid: number } | undefined {
  const { uid, gid } = statSync(stateFolder)
  return userInfo().uid === 0 && uid !== 0 ? { uid, gid } : undefined
}

function backupFolder(configPath: string, variables: NodeJS.ProcessEnv, to: { home: string; stateFolder: string }) {
  const loaded = loadConfigFile({ path: configPath, env: variables })
  // A configuration with errors ends the update later, at the start on the copy, with each of them named.
  const config: Config | undefined = loaded.kind === "ok" ? loaded.snapshot.config : undefined
  const folder = resolveHome(config?.backup.folder ?? "backups", to.home, to.stateFolder)
  makeFolder(folder)
  return folder
}

function databaseIsUsable(file: string): boolean {
  const { raw } = openSqlite(file)
  try {
    const [row] = raw.prepare("pragma quick_check(1)").all()
    return row?.["quick_check"] === "ok" && canUse(raw, migrations)
  } finally {
    raw.close()
  }
}

async function migrateFolder(stateDir: string): Promise<string[]> {
  const handle = openSqlite(join(stateDir, "svc.db"))
  try {
    const now = () => new Date().toISOString()
    const done = await migrate({
      handle,
      migrations,
      readableFrom,
      crashPoint: () => undefined,
      now,
      version: version(),
    })
    const [row] = handle.raw.prepare("pragma quick_check(1)").all()
    if (row?.["quick_check"] === "ok") return done
    throw new AppError("storage-damaged", `The migrated database is damaged: ${String(row?.["quick_check"])}`)
  } finally {
    handle.raw.close()
  }
}
