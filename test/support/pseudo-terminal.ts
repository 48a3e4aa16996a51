// A program on a real pseudo-terminal, typed to by a test: `script` of util-linux has the terminal, we have its other end.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"

export interface PseudoTerminal {
  child: ChildProcess
  /** Resolves with everything so far once `text` stands behind what the last call waited for. */
  shows(text: string | RegExp): Promise<string>
  /** Types a line. */
  type(line: string): void
  /** Everything that the person sees, so far. */
  screen(): string
  ended: Promise<number | null>
}

const patienceMs = 60_000

export function openPseudoTerminal(
  words: readonly string[],
  options: { environment: NodeJS.ProcessEnv; workingFolder?: string },
): PseudoTerminal {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")
  const child = spawn("script", ["--quiet", "--flush", "--return", "--command", quoted, "/dev/null"], {
    cwd: options.workingFolder,
    env: { PATH: process.env["PATH"], TERM: "dumb", ...options.environment },
    stdio: ["pipe", "pipe", "inherit"],
  })
  // Each wait listens for the end of it.
  child.setMaxListeners(0)
  let screen = ""
  let seen = 0
  child.stdout?.setEncoding("utf8")
  child.stdout?.on("data", (piece: string) => {
    screen += piece
  })
  const ended = once(child, "close").then(([code]) => code as number | null)
  return {
    child,
    screen: () => screen,
    ended,
    type: (line) => void child.stdin?.write(`${line}\r`),
    shows: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const rest = screen.slice(seen)
          const at = typeof text === "string" ? rest.indexOf(text) : rest.search(text)
          if (at < 0) return
          seen += at + (typeof text === "string" ? text.length : 1)
          child.stdout?.off("data", look)
          resolve(screen)
        }
        const fail = (why: string) => reject(new Error(`${why} without showing ${String(text)}:\n${screen}`))
        child.stdout?.on("data", look)
        child.once("close", () => fail("ended"))
        AbortSignal.timeout(patienceMs).addEventListener("abort", () => fail("went on"))
        look()
      }),
  }
}
