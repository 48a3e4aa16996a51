// What detection needs of the machine, injected so that all three systems are tested on any.
import { execFile } from "node:child_process"
import { accessSync, constants, readFileSync, statSync } from "node:fs"

export interface Machine {
  platform: NodeJS.Platform
  homeFolder: string
  /** The environment that matters: PATH, and on Windows the folders of programs. */
  environment: Readonly<Record<string, string | undefined>>
  isExecutable(path: string): boolean
  /** Undefined when the file cannot be read. */
  readText(path: string): string | undefined
  /** Output of a helper program, undefined when it fails or takes too long. Never rejects. */
  run(command: string, args: string[]): Promise<string | undefined>
}

/** Helpers answer at once or not at all. */
const helperTimeoutMs = 2_000

export function systemMachine(options: {
  homeFolder: string
  environment: Readonly<Record<string, string | undefined>>
}): Machine {
  return {
    ...options,
    platform: process.platform,
    isExecutable(path) {
      try {
        accessSync(path, constants.X_OK)
        return statSync(path).isFile()
      } catch {
        return false
      }
    },
    readText(path) {
      try {
        return readFileSync(path, "utf8")
      } catch {
        return undefined
      }
    },
    run: (command, args) =>
      new Promise((resolve) => {
        execFile(command, args, { timeout: helperTimeoutMs, windowsHide: true }, (error, stdout) =>
          resolve(error ? undefined : stdout),
        )
      }),
  }
}
