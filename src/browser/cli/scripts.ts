// `svc browser run`: a script of acts from a file; `svc browser scripts`: those that were kept.
import { AppError } from "../../kernel/errors.ts"
import type { Reply, RunReply } from "../contract.ts"
import { type CommandSpec, type Flag, type Performed, type Run, freshMode, marginMs, plain } from "./command.ts"
import { handOver } from "./hand-over.ts"

const runFlags: Flag[] = [
  ["--value <name=value...>", "what {{name}} stands for in the script"],
  ["--snapshot <mode>", "what to print of the page afterwards (default diff)", ["efficient", "diff"]],
  ["--timeout-ms <n>", "time limit of the whole script (default 60000)"],
]

export const runCommand: CommandSpec = {
  usage: "run <file>",
  description: "Do a script of steps (JSON; - reads it from standard input), and print what it has read",
  example: `echo '[{"kind":"click","find":"button \\"Add\\"","in":"Green Tea"}]' | svc browser run -`,
  json: "RunReply",
  tab: true,
  flags: [["--keep <name>", "keep it under this name when all of it was done"], ...runFlags],
  async perform(run, file) {
    const { steps, values } = await readScript(file ?? "-")
    const { keep } = run.options
    const performed = await perform(run, { steps, values: { ...values, ...valuesOf(run) }, keep })
    if (performed.reply.stopped) run.io.failed()
    return performed
  },
}

export const scriptCommands: CommandSpec[] = [
  {
    usage: "list",
    description: "List the kept scripts",
    example: "svc browser scripts list",
    json: "ScriptList",
    async perform({ send, io }) {
      const reply = await send<Reply<"ScriptList">>("GET", "/scripts")
      const lines = reply.scripts.map(({ name, sites, steps, runs, lastStop, inputs }) =>
        [
          `${name}: ${steps.length} steps on ${sites.join(", ")}, run ${runs} ${runs === 1 ? "time" : "times"}`,
          ...(inputs.length > 0 ? [`takes ${inputs.join(", ")}`] : []),
          ...(lastStop === undefined ? [] : [`stopped the last time at ${lastStop}`]),
        ].join("; "),
      )
      return { reply, show: () => io.print(lines.join("\n") || "no kept scripts") }
    },
  },
  {
    usage: "show <name>",
    description: "Print a kept script",
    example: "svc browser scripts show order-tea",
    json: "KeptScript",
    async perform({ send, io }, name) {
      const reply = await send<Reply<"KeptScript">>("GET", path(name))
      return { reply, show: () => io.print(JSON.stringify(reply, null, 2)) }
    },
  },
  {
    usage: "run <name>",
    description: "Do a kept script again, without the model",
    example: "svc browser scripts run order-tea --value count=2",
    json: "RunReply",
    tab: true,
    flags: [
      ...runFlags,
      ["--hand-over", "where it no longer fits the page, let the agent finish it, and print its answer"],
    ],
    perform: async (run, name = "") => await performKept(run, name),
  },
  {
    usage: "remove <name>",
    description: "Remove a kept script",
    example: "svc browser scripts remove order-tea",
    json: "RemovedScript",
    async perform({ send, io }, name) {
      const reply = await send<Reply<"RemovedScript">>("DELETE", path(name))
      return { reply, show: () => io.print(`removed ${reply.name}`) }
    },
  },
]

const path = (name: string | undefined) => `/scripts/${encodeURIComponent(name ?? "")}`

async function performKept(run: Run, script: string): Promise<Performed> {
  const values = valuesOf(run)
  const { reply, show } = await perform(run, { script, values })
  if (!reply.stopped) return { reply, show }
  if (run.options["handOver"] === true) {
    return { reply, show, after: () => handOver(run, reply, { script, values }) }
  }
  run.io.failed()
  run.io.note("let the agent finish it: the same command with --hand-over")
  return { reply, show }
}

async function perform(run: Run, body: Record<string, unknown>) {
  const { send, options } = run
  const timeoutMs = typeof options["timeoutMs"] === "string" ? Number(options["timeoutMs"]) : undefined
  const reply = await send<RunReply>("POST", "/act", {
    body: {
      kind: "run",
      ...body,
      targetId: options.targetId,
      timeoutMs: options["timeoutMs"],
      snapshot: freshMode(options),
    },
    timeoutMs: (timeoutMs ?? 60_000) + 20_000 + marginMs,
  })
  return { reply, show: () => show(run, reply) }
}

function show({ io }: Run, reply: RunReply): void {
  const { done, values, stopped, notes = [], snapshot, kept, notKept } = reply
  const steps = `${done} ${done === 1 ? "step" : "steps"} done`
  const round = stopped?.round === undefined ? "" : ` (round ${stopped.round})`
  if (stopped) {
    io.print(`stopped at step ${stopped.step}${round}, ${steps} before: ${stopped.code}: ${plain(stopped.message)}`)
    if (stopped.hint !== undefined) io.print(`hint: ${stopped.hint}`)
  } else io.print(steps)
  for (const [name, value] of Object.entries(values))
    io.print(`${name}: ${typeof value === "string" ? plain(value) : JSON.stringify(value)}`)
  if (kept !== undefined) io.print(`kept as ${kept}`)
  if (notKept !== undefined) io.print(`not kept: ${plain(notKept)}`)
  for (const note of notes) io.print(`note: ${plain(note)}`)
  if (snapshot !== undefined) io.print(snapshot)
}

/** A list of steps, or an object that holds it with values. */
async function readScript(file: string): Promise<{ steps: unknown; values: object }> {
  const text = await readText(file)
  const script = parse(text)
  if (Array.isArray(script)) return { steps: script, values: {} }
  const { steps, values = {} } = script as { steps?: unknown; values?: unknown }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new AppError("bad-request", "values: must be an object")
  return { steps, values }
}

function parse(text: string): object {
  try {
    const script: unknown = JSON.parse(text)
    if (typeof script === "object" && script !== null) return script
  } catch (error) {
    throw new AppError("bad-request", `The script is no JSON: ${error instanceof Error ? error.message : ""}`, {
      cause: error,
    })
  }
  throw new AppError("bad-request", "The script must be a list of steps, or an object with steps")
}

async function readText(file: string): Promise<string> {
  if (file === "-") {
    const { text } = await import("node:stream/consumers")
    return await text(process.stdin)
  }
  const { readFile } = await import("node:fs/promises")
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    throw new AppError("bad-request", `${file} could not be read`, { cause: error })
  }
}

function valuesOf({ options }: Run): Record<string, string> {
  const given = options["value"]
  const list = Array.isArray(given) ? given : []
  return Object.fromEntries(
    list.map((each: unknown) => {
      const [, name, value] = /^([\w-]+)=(.*)$/s.exec(String(each)) ?? []
      if (name === undefined) throw new AppError("bad-request", `--value ${String(each)}: must be name=value`)
      return [name, value ?? ""]
    }),
  )
}
