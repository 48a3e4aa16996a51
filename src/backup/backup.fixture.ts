// A state folder with something in every corner, and backups of it, for the tests of this folder.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"
import { gzipSync } from "node:zlib"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { testStore } from "../../test/support/store.ts"
import { systemClock, systemIds } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import { blockBytes, encodeHeaders, padding } from "./archive/header.ts"
import type { Progress } from "./contract.ts"
import { type CreateOptions, createBackup } from "./create.ts"
import { type RestoreOptions, restoreBackup } from "./restore.ts"

export const quiet: { progress: Progress } = { progress: () => undefined }

export interface StateFolder {
  stateFolder: string
  store: Store
  write(path: string, content: string | Buffer): void
  create(options?: Partial<CreateOptions>): ReturnType<typeof createBackup>
}

export async function stateFolderWith(
  context: TestContext,
  files: Record<string, string | Buffer> = {},
): Promise<StateFolder> {
  const stateFolder = join(temporaryFolder(), "state")
  const store = await testStore(context, { folder: stateFolder })
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(stateFolder, path)), { recursive: true })
    writeFileSync(join(stateFolder, path), content)
  }
  for (const [path, content] of Object.entries({ "svc.json": "{}\n", ...files })) write(path, content)
  return {
    stateFolder,
    store,
    write,
    create: (options) =>
      createBackup({
        stateFolder,
        configPath: join(stateFolder, "svc.json"),
        variables: { SVC_STATE_DIR: stateFolder },
        folder: join(stateFolder, "backups"),
        version: "1.2.3",
        clock: systemClock,
        ids: systemIds,
        ...quiet,
        ...options,
      }),
  }
}

export function restore(archive: string, to: string, options: Partial<RestoreOptions> = {}) {
  return restoreBackup({
    archive,
    to,
    replace: false,
    openWork: "run",
    unsent: "ask",
    clock: systemClock,
    ids: systemIds,
    ...quiet,
    ...options,
  })
}

/** An archive of any members, also of those that no backup has. */
export function packed(members: readonly { path: string; content: Buffer; header?: Buffer }[]): Buffer {
  const blocks = members.flatMap(({ path, content, header }) => [
    header ?? encodeHeaders({ path, size: content.length }, 0),
    content,
    Buffer.alloc(padding(content.length)),
  ])
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]))
}
