// Files of the mail watch in the state folder, readable by their owner only, whole or absent:
// temporary file -> fsync -> rename -> fsync of the folder. What was written survives a power cut.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { z } from "zod"
import { AppError } from "../../kernel/index.ts"

export function writePrivateJson(path: string, value: unknown): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Gateway and command line may write at the same time: each has a temporary file of its own.
  const temporary = `${path}.${process.pid}.tmp`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, "wx", 0o600)
  try {
    writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  // Windows cannot open folders; its rename is durable by itself.
  if (process.platform === "win32") return
  const parent = openSync(folder, "r")
  try {
    fsyncSync(parent)
  } finally {
    closeSync(parent)
  }
}

/** Undefined when there is no file. Throws AppError `config-invalid` naming the file when it is not as we wrote it. */
export function readPrivateJson<Schema extends z.ZodType>(path: string, schema: Schema): z.infer<Schema> | undefined {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    // The parser's own message would quote the text, which may be a secret.
    throw new AppError("config-invalid", `${path} is damaged`, {
      hint: "Move it away and run: svc webhooks gmail setup",
      ...(error instanceof SyntaxError ? {} : { cause: error }),
    })
  }
}
