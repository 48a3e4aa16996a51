// Transforms: a mapping's module -> a warm thread for it -> the call -> checked overrides.
// A module that loops, crashes or eats memory costs its own call a 500 and a line in the log, never the gateway.
import { AppError, type Clock, type Log, describeError } from "../../kernel/index.ts"
import { confineModule } from "./confine.ts"
import { type Overrides, type RunTransform, type TransformInput, overridesSchema } from "./contract.ts"
import { type CallOutcome, TransformThread } from "./thread.ts"

export interface TransformsOptions {
  /** Absolute path of the folder in force; asked on each call. */
  folder: () => string
  clock: Clock
  log: Log
  timeLimitMs?: number
}

export interface Transforms {
  run: RunTransform
  stop(): Promise<void>
}

const defaultTimeLimitMs = 5_000
/** A warm thread takes some megabytes; more modules than this share by starting anew. */
const maxThreads = 8
/** How often a call that never began is made again. */
const maxRestarts = 2

export function createTransforms(options: TransformsOptions): Transforms {
  const threads = new Map<string, TransformThread>()
  // An older version of a module, or one that was not used for long, finishes what it has begun.
  const retired = new Set<TransformThread>()
  const retire = (key: string, thread: TransformThread) => {
    threads.delete(key)
    for (const old of retired) if (old.ended) retired.delete(old)
    retired.add(thread)
    thread.retire()
  }
  const threadFor = (module: string): TransformThread => {
    const file = confineModule(options.folder(), module)
    const existing = threads.get(file.path)
    if (existing?.takesCalls && existing.file.version === file.version && existing.isCurrent) {
      // To the end of the map: the first ones are those that were not used for longest.
      threads.delete(file.path)
      threads.set(file.path, existing)
      return existing
    }
    if (existing) retire(file.path, existing)
    for (const [key, thread] of threads) {
      if (threads.size < maxThreads) break
      if (!thread.busy) retire(key, thread)
    }
    const timeLimitMs = options.timeLimitMs ?? defaultTimeLimitMs
    const thread = new TransformThread({ file, timeLimitMs, log: options.log })
    threads.set(file.path, thread)
    return thread
  }
  return {
    async run(transform, input) {
      try {
        return await callTransform(threadFor, transform, input)
      } catch (error) {
        options.log.error({ module: transform.module, export: transform.export, err: error }, "hook transform failed")
        throw new AppError("internal", "hook mapping failed", {
          cause: error,
          hint: "The gateway's log has the details",
        })
      }
    },
    async stop() {
      await Promise.all([...threads.values(), ...retired].map((thread) => thread.stop()))
      threads.clear()
      retired.clear()
    },
  }
}

async function callTransform(
  threadFor: (module: string) => TransformThread,
  transform: { module: string; export?: string | undefined },
  input: TransformInput,
): Promise<Overrides | null> {
  let outcome: CallOutcome = { kind: "not-begun" }
  for (let tries = 0; tries <= maxRestarts && outcome.kind === "not-begun"; tries += 1) {
    outcome = await threadFor(transform.module).call(transform.export, input)
  }
  if (outcome.kind !== "json") {
    throw new Error(outcome.kind === "failed" ? outcome.error : "its thread kept ending before the call began")
  }
  const value = JSON.parse(outcome.json) as unknown
  if (value === null) return null
  const parsed = overridesSchema.safeParse(withoutNulls(value))
  if (parsed.success) return parsed.data
  throw new Error(`what it returned is wrong: ${describeError(parsed.error)}`)
}

/** A field that is null counts as left out, as in a payload. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}
