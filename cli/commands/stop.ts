// `svc stop`: asks the gateway to end, then waits until its process is gone; what it was doing is finished or kept.
import { setTimeout as wait } from "node:timers/promises"
import type { Command } from "commander"
import { AppError, describeError } from "../../src/kernel/errors.ts"
import { isProcessAlive } from "../../src/kernel/process-alive.ts"
import type { CliContext } from "../context.ts"
import { connectGateway, defaultTimeoutMs, type GatewayClient } from "../gateway/client.ts"
import { addExamples, addLocalOptions, wholeNumber } from "../options.ts"

interface Options {
  json?: true
  stateDir?: string
  timeout: number
}

// The process is not our child, so that its end can only be looked for.
const lookEveryMs = 40
const lostAnswerMs = 900

export function addStop(program: Command, context: CliContext): void {
  const command = program.command("stop").description("Stop the running gateway and wait until it has ended")
  addLocalOptions(command)
    .option("--timeout <seconds>", "how long to wait for its end", wholeNumber("--timeout", 1, 3600), 15)
    .action(async (options: Options) => {
      const gateway = connectGateway(context, { ...options, timeout: defaultTimeoutMs })
      const started = Date.now()
      await askToStop(gateway, context)
      await waitForEnd(gateway.file.pid, options.timeout * 1000, context)
      const elapsedMs = Date.now() - started
      if (options.json) return context.output.json({ ok: true, pid: gateway.file.pid, elapsedMs })
      context.output.line(`stopped the gateway (process ${gateway.file.pid})`)
    })
  addExamples(command, "svc stop --timeout 30")
}

async function askToStop(gateway: GatewayClient, context: CliContext): Promise<void> {
  try {
    await gateway.call("POST", "/api/stop")
  } catch (error) {
    const code = error instanceof AppError ? error.code : undefined
    // Already on its way out.
    if (code === "not-ready") return
    if (code !== "gateway-unreachable") throw error
    // Ending takes its answer with it: unreachable is a failure only when the process lives on.
    await waitForEnd(gateway.file.pid, lostAnswerMs, context).catch((reason: unknown) => {
      throw reason instanceof AppError && reason.code === "timeout" ? error : reason
    })
  }
}

async function waitForEnd(pid: number, timeoutMs: number, context: CliContext): Promise<void> {
  const signal = context.interrupted()
  const started = Date.now()
  let told = false
  while (isProcessAlive(pid)) {
    const elapsed = Date.now() - started
    if (elapsed > timeoutMs) {
      throw new AppError("timeout", `The gateway (process ${pid}) has not ended after ${timeoutMs / 1000} s`, {
        hint: `it may still be finishing its work: wait, or end it now with: kill ${pid}`,
      })
    }
    if (elapsed > 1000 && !told) {
      context.output.note(`waiting for the gateway (process ${pid}) to finish its work ...`)
      told = true
    }
    await wait(lookEveryMs, undefined, { signal }).catch((error: unknown) => {
      throw new AppError("aborted", describeError(error), { cause: error })
    })
  }
}
