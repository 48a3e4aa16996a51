// `svc agent "..."`: a conversation with the agent from a terminal, written as it comes.
import { randomUUID } from "node:crypto"
import { text as readAll } from "node:stream/consumers"
import type { Command } from "commander"
import type { TerminalProgress } from "../../src/channels/terminal/contract.ts"
import { AppError } from "../../src/kernel/errors.ts"
import { type AskOptions, type Followed, followRun, restOf, sendQuestion, stopRun } from "../agent/ask.ts"
import { stateFolder, type CliContext } from "../context.ts"
import { type MediaFile, isAddress, isRefusal, prepareMedia } from "../media-file.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { printable } from "../../src/kernel/terminal-text.ts"

interface Options extends GatewayOptions {
  session?: string
  agent?: string
  picture?: string[]
  id?: string
  wait: boolean
  /** Words of others that the message is about. */
  context?: string
}

export function addAgent(program: Command, context: CliContext): void {
  const agent = program
    .command("agent")
    .description("Talk to the agent from this terminal")
    .argument("[message]", "what to say, or a chat command such as /status; - or nothing: read from standard input")
  addGatewayOptions(agent)
    .option("--session <name>", "a conversation of its own, such as notes, or a key as in: svc sessions list", "main")
    .option("--agent <id>", "which agent, when there are several")
    .option("--picture <path>", "show it a picture; may be given several times", collect)
    .option("--id <id>", "the message's own id: the same one is answered once (default: a new one)")
    .option("--no-wait", "say the run's id and do not wait for the answer")
    .action((message: string | undefined, options: Options) => talk(context, message, options))
  addExamples(
    agent,
    'svc agent "What is on my calendar today?"',
    'svc agent --session notes "Sum up what we said"',
    'svc agent --picture ./plan.png "What is wrong here?"',
    "git diff | svc agent --json -",
    "svc agent /status",
  )
}

function collect(value: string, all: string[] = []): string[] {
  return [...all, value]
}

/** Asks, and prints the answer as it comes. */
export async function talk(context: CliContext, given: string | undefined, options: Options): Promise<void> {
  const message = await readMessage(given)
  const printer = createPrinter(context, options)
  const asking: AskOptions = {
    context,
    gateway: options,
    onText: (piece) => printer.stream(piece),
    onNote: (line) => context.output.note(context.output.named(line)),
  }
  const { session, agent, context: words, id = randomUUID() } = options
  const pictures = await takePictures(context, options)
  const accepted = await sendQuestion(asking, {
    id,
    message,
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(words === undefined ? {} : { context: words }),
    ...(pictures.length === 0 ? {} : { pictures: pictures.map(({ source }) => source) }),
  }).catch(async (error: unknown) => {
    if (error instanceof AppError && error.code === "aborted")
      asking.onNote("stopped; if the message had arrived by then, its run goes on: svc runs list")
    if (!(error instanceof AppError) || !isRefusal(error)) throw error
    await Promise.all(pictures.map((picture) => picture.discard()))
    throw inGivenNames(error, pictures, options.picture ?? [])
  })
  if (!options.wait) {
    if (options.json) return context.output.json(accepted)
    return context.output.line(context.output.named(`run ${accepted.runId} (svc runs show ${accepted.runId})`))
  }
  try {
    printer.finish(await followRun(asking, accepted.runId))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "aborted") throw error
    await stopRun(asking, accepted)
    throw error
  }
}

async function readMessage(given: string | undefined): Promise<string> {
  const isPiped = given === "-" || (given === undefined && !process.stdin.isTTY)
  const message = isPiped ? await readAll(process.stdin) : (given ?? "")
  if (message.trim() !== "") return message.trim()
  throw new AppError("bad-request", isPiped ? "Standard input was empty" : "There is nothing to say", {
    hint: 'for example: svc agent "Good morning"',
  })
}

async function takePictures(context: CliContext, { picture = [], stateDir }: Options): Promise<MediaFile[]> {
  const taken: MediaFile[] = []
  for (const path of picture) {
    if (isAddress(path)) {
      throw new AppError("bad-request", `--picture ${path}: it takes a file of this machine`, {
        hint: "Put the address into the message, or download the picture first",
      })
    }
    taken.push(await prepareMedia(path, stateFolder(context, stateDir), "--picture"))
  }
  return taken
}

/** The person knows the file under the name that was given, not the copy's. */
function inGivenNames(error: AppError, pictures: readonly MediaFile[], names: readonly string[]): AppError {
  const index = pictures.findIndex(({ source }) => error.message.includes(source))
  const { source = "" } = pictures[index] ?? {}
  if (source === "") return error
  const message = error.message.replace(source, `--picture ${names[index] ?? ""}:`)
  return new AppError(error.code, message, { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }) })
}

function createPrinter(context: CliContext, options: Options) {
  const { output } = context
  return {
    stream(piece: string) {
      if (!options.json) output.write(printable(piece))
    },
    finish({ progress, streamed }: Followed) {
      if (progress.state !== "done") context.exitCode = 1
      if (options.json) return output.json(asJson(progress))
      const answer = textOf(progress)
      if (progress.state === "failed") {
        throw new AppError("internal", `The agent could not answer: ${progress.error ?? answer}`, {
          hint: `see: svc runs show ${progress.runId}`,
        })
      }
      const rest = streamed === undefined ? `\n\n${answer}` : restOf(answer, streamed)
      output.write(`${printable(rest)}\n`)
      for (const { file } of progress.messages) if (file !== undefined) output.line(`MEDIA:${printable(file)}`)
      if (progress.state === "stopped") output.note("the run was stopped")
    },
  }
}

function textOf({ messages }: TerminalProgress): string {
  return messages
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join("\n\n")
}

function asJson(progress: TerminalProgress): object {
  const { runId, session, state, messages, error } = progress
  const files = messages.flatMap(({ file }) => (file === undefined ? [] : [file]))
  return {
    ok: state === "done",
    runId,
    session,
    state,
    text: textOf(progress),
    files,
    ...(error === undefined ? {} : { error }),
  }
}
