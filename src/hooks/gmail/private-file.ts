// Files of the mail watch in the state folder, as JSON, readable by their owner only.
import { readFileSync } from "node:fs"
import type { z } from "zod"
import { AppError, writePrivateFile } from "../../kernel/index.ts"

export function writePrivateJson(path: string, value: unknown): void {
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`)
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
