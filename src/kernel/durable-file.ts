// The one way to write a file that somebody will believe later: temporary file in the same folder -> data -> fsync ->
// rename -> fsync of the folder. After a crash or a power cut the old content is there or the new one, never a part, and
// what was reported as written is there. Mode 600; folders that are missing are made with mode 700, and last as well.
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"

/** A temporary file that is older was left by a writer that was killed: an hour is far longer than any write takes. */
const leftoverMs = 60 * 60_000

/** What is done to the disk. Each may answer at once or later; for tests, which look at the order. */
export interface FileOperations {
  makeFolder(path: string): Maybe<string | undefined>
  open(path: string, flags: string): Maybe<number>
  write(handle: number, chunk: Uint8Array | string): Maybe<void>
  copy(from: string, to: string): Maybe<void>
  sync(handle: number): Maybe<void>
  close(handle: number): Maybe<void>
  rename(from: string, to: string): Maybe<void>
  remove(path: string): Maybe<void>
}

type Maybe<T> = T | Promise<T>
type Chunks = AsyncIterable<Uint8Array>

/** Text or bytes, pieces that come with time, or a copy of another file of this machine. */
export type Content = string | Uint8Array | Chunks | { copyOf: string }

interface Naming {
  /** The path that it gets, in the same folder, when only its content tells. Given the temporary file and its size. */
  name?: (temporary: string, bytes: number) => Maybe<string>
}

interface Doubt {
  /** Called when all of it is safely on the disk and only the rename is missing; false leaves the file as it was. */
  beforeRename?: () => boolean
}

export interface Written {
  path: string
  bytes: number
}

/** Writes or replaces `file`. Nothing of a content that fails stays. */
export async function writeDurableFile(
  file: string,
  content: Content,
  options: Naming = {},
  operations: FileOperations = asyncOperations,
): Promise<Written> {
  const steps = replace(operations, file, content, options)
  let next = steps.next()
  while (!next.done) {
    try {
      const value: unknown = await next.value
      next = steps.next(value)
    } catch (error) {
      next = steps.throw(error)
    }
  }
  return next.value as Written
}

/** The same at once, for what is small and must be there before anything else happens; undefined when it was not to be. */
export function writeDurableFileSync(
  file: string,
  content: string | Uint8Array | { copyOf: string },
  options: Doubt = {},
  operations: FileOperations = syncOperations,
): Written | undefined {
  const steps = replace(operations, file, content, options)
  let next = steps.next()
  while (!next.done) next = steps.next(next.value)
  return next.value
}

/** Puts a finished file of somebody else's (a browser's download) to its place, so that it lasts. */
export async function moveDurableFile(from: string, to: string): Promise<void> {
  const handle = await fs.promises.open(from, "r+")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fs.promises.rename(from, to)
  const folder = await asyncOperations.open(dirname(to), "r")
  try {
    await asyncOperations.sync(folder)
  } finally {
    await asyncOperations.close(folder)
  }
}

/** A temporary file that no writer can still be writing. */
export function isLeftover(name: string, ageMs: number): boolean {
  return name.startsWith(".") && name.endsWith(".tmp") && ageMs > leftoverMs
}

type Steps<T> = Generator<Maybe<unknown>, T, unknown>

function* step<T>(value: Maybe<T>): Steps<T> {
  return (yield value) as T
}

function* replace(
  operations: FileOperations,
  file: string,
  content: Content,
  { beforeRename, name }: Naming & Doubt,
): Steps<Written | undefined> {
  const folder = dirname(file)
  yield* makeFolder(operations, folder)
  const temporary = join(folder, `.${basename(file)}.${randomBytes(6).toString("hex")}.tmp`)
  let isPlaced = false
  try {
    const bytes = yield* fill(operations, temporary, content)
    const path = name ? yield* step(name(temporary, bytes)) : file
    if (beforeRename && !beforeRename()) return undefined
    yield* step(operations.rename(temporary, path))
    isPlaced = true
    yield* syncFolder(operations, folder)
    return { path, bytes }
  } finally {
    if (!isPlaced) yield* step(operations.remove(temporary))
  }
}

/** Its bytes, on the disk. */
function* fill(operations: FileOperations, temporary: string, content: Content): Steps<number> {
  const isCopy = typeof content === "object" && "copyOf" in content
  if (isCopy) yield* step(operations.copy(content.copyOf, temporary))
  const handle = yield* step(operations.open(temporary, isCopy ? "r+" : "wx"))
  try {
    const bytes = isCopy ? 0 : yield* writeAll(operations, handle, content)
    yield* step(operations.sync(handle))
    return bytes
  } finally {
    yield* step(operations.close(handle))
  }
}

function* writeAll(operations: FileOperations, handle: number, content: string | Uint8Array | Chunks): Steps<number> {
  if (typeof content === "string" || content instanceof Uint8Array) {
    yield* step(operations.write(handle, content))
    return Buffer.byteLength(content)
  }
  const chunks = content[Symbol.asyncIterator]()
  let bytes = 0
  let isOver = false
  try {
    for (;;) {
      const next = yield* step(chunks.next())
      isOver = next.done === true
      if (next.done) return bytes
      bytes += next.value.byteLength
      yield* step(operations.write(handle, next.value))
    }
  } finally {
    if (!isOver) yield* step(chunks.return?.())
  }
}

/** A folder lasts when the one that it was made in was synced. */
function* makeFolder(operations: FileOperations, folder: string): Steps<void> {
  const first = yield* step(operations.makeFolder(folder))
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made))
    yield* syncFolder(operations, dirname(made))
}

function* syncFolder(operations: FileOperations, folder: string): Steps<void> {
  // Windows cannot open folders; its rename is durable by itself.
  if (process.platform === "win32") return
  const handle = yield* step(operations.open(folder, "r"))
  try {
    yield* step(operations.sync(handle))
  } finally {
    yield* step(operations.close(handle))
  }
}

const mode = 0o600
const folderMode = { recursive: true, mode: 0o700 } as const
const copyFlags = fs.constants.COPYFILE_EXCL | fs.constants.COPYFILE_FICLONE

const syncOperations: FileOperations = {
  makeFolder: (path) => fs.mkdirSync(path, folderMode),
  open: (path, flags) => fs.openSync(path, flags, mode),
  write: (handle, chunk) => fs.writeFileSync(handle, chunk),
  copy(from, to) {
    fs.copyFileSync(from, to, copyFlags)
    fs.chmodSync(to, mode)
  },
  sync: (handle) => fs.fsyncSync(handle),
  close: (handle) => fs.closeSync(handle),
  rename: (from, to) => fs.renameSync(from, to),
  remove: (path) => fs.rmSync(path, { force: true }),
}

const open = promisify<string, string, number, number>(fs.open)
const write = promisify<number, Uint8Array | string>(fs.writeFile)

export const asyncOperations: FileOperations = {
  makeFolder: (path) => fs.promises.mkdir(path, folderMode),
  open: (path, flags) => open(path, flags, mode),
  write: (handle, chunk) => write(handle, chunk),
  async copy(from, to) {
    await fs.promises.copyFile(from, to, copyFlags)
    await fs.promises.chmod(to, mode)
  },
  sync: promisify(fs.fsync),
  close: promisify(fs.close),
  rename: (from, to) => fs.promises.rename(from, to),
  remove: (path) => fs.promises.rm(path, { force: true }),
}
