// Short looks at programs of this machine: what they say of themselves, and whether they do what is needed.
import { execFile } from "node:child_process"

export interface Looked {
  /** Undefined when the program could not be started, or not in time. */
  code: number | undefined
  text: string
}

export type Look = (program: string, words: readonly string[]) => Promise<Looked>

const lookMs = 5_000

export function createLook(environment: Record<string, string>): Look {
  return (program, words) =>
    new Promise((resolve) => {
      const options = { env: environment, timeout: lookMs, killSignal: "SIGKILL" as const, maxBuffer: 64 * 1024 }
      execFile(program, [...words], options, (error, stdout, stderr) => {
        const text = `${stdout}${stderr}`.trim()
        const code = error === null ? 0 : error.code
        if (typeof code === "number") resolve({ code, text })
        else
          resolve({
            code: undefined,
            text: error?.code === "ENOENT" ? "there is no such program" : (error?.message ?? text),
          })
      })
    })
}

export function succeeded(looked: Looked): boolean {
  return looked.code === 0
}
