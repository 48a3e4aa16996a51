// A command that takes in only those of its commands that the words of the command line can mean. Setting up the
// twenty commands of `svc browser` takes 2 ms, which one call of one command should not pay.
import { Command, type CommandOptions, type ExecutableCommandOptions } from "commander"

export class LeanCommand extends Command {
  readonly #words: ReadonlySet<string>
  #skipped = false

  constructor(words: ReadonlySet<string>, name?: string) {
    super(name)
    this.#words = words
  }

  override createCommand(name?: string): LeanCommand {
    return new LeanCommand(this.#words, name)
  }

  override command(usage: string, options?: CommandOptions): ReturnType<this["createCommand"]>
  override command(usage: string, description: string, options?: ExecutableCommandOptions): this
  override command(usage: string, options?: unknown): Command {
    if (this.#words.has(usage.split(" ", 1)[0] ?? "")) return super.command(usage, options as CommandOptions)
    this.#skipped = true
    return ignored
  }

  /** Whether nothing can have been meant but what was skipped: a default command, or help. */
  lacksAny(): boolean {
    const kept = this.commands.filter((command) => command instanceof LeanCommand)
    return (this.#skipped && kept.length === 0) || kept.some((command) => command.lacksAny())
  }
}

/** Stands for a skipped command: takes every call of its set-up and does nothing. */
const ignored = new Proxy({} as Command, { get: () => () => ignored })
