// Questions on a terminal: one line each, typed ahead or not; secrets are not shown. Ctrl-C and the end of the input end the
// program with `aborted`.
import { createInterface, type Interface } from "node:readline"
import { Writable } from "node:stream"
import { AppError } from "../../src/kernel/errors.ts"

export interface Terminal {
  say(line: string): void
  /** `hidden`: what is typed does not appear. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
  /** Called when the person has ended it, by Ctrl-C or the end of the input. */
  onEnd(listener: () => void): void
  /** Gives the terminal back. */
  end(): void
}

export function openTerminal(streams: { input: NodeJS.ReadStream; output: NodeJS.WriteStream }): Terminal {
  const { input, output } = streams
  // Only an open question whose answer may be seen echoes; what is typed ahead, perhaps a key, never does.
  let echoes = false
  const screen = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (echoes) output.write(chunk)
      done()
    },
  })
  const lines: string[] = []
  let waiting: PromiseWithResolvers<string> | undefined
  let isOver = false
  const reader: Interface = createInterface({ input, output: screen, terminal: true, historySize: 0 })
  reader.on("line", (line) => {
    if (!waiting) return void lines.push(line)
    const { resolve } = waiting
    waiting = undefined
    resolve(line)
  })
  let onEnd = () => undefined as void
  const stop = () => {
    if (!isOver) onEnd()
    isOver = true
    waiting?.reject(new AppError("aborted", "Stopped"))
    waiting = undefined
  }
  reader.on("close", stop)
  reader.on("SIGINT", () => {
    output.write("\n")
    reader.close()
  })
  return {
    say: (line) => void output.write(`${line}\n`),
    async ask(question, { hidden = false } = {}) {
      if (isOver) throw new AppError("aborted", "Stopped")
      output.write(question)
      echoes = !hidden
      const ahead = lines.shift()
      if (ahead !== undefined) output.write(hidden ? "\n" : `${ahead}\n`)
      waiting = ahead === undefined ? Promise.withResolvers<string>() : undefined
      try {
        const answer = await (waiting?.promise ?? ahead ?? "")
        if (hidden && ahead === undefined) output.write("\n")
        return answer.trim()
      } finally {
        echoes = false
      }
    },
    onEnd: (listener) => void (onEnd = listener),
    end() {
      isOver = true
      waiting = undefined
      reader.close()
    },
  }
}
