// `svc pause --all` and `svc resume`: nothing starts until it is said; messages are still taken in.
import type { Command } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"

export function addPause(program: Command, context: CliContext): void {
  const pause = program.command("pause").description("Pause everything: nothing starts until svc resume")
  addGatewayOptions(pause)
    .option("--all", "everything: chats, webhooks, heartbeats, schedules")
    .action(async ({ all, ...options }: GatewayOptions & { all?: boolean }) => {
      if (!all) {
        throw new AppError("bad-request", "svc pause takes --all: it pauses everything")
      }
      const answer = await connectGateway(context, options).call("POST", "/api/pause", { body: {} })
      if (options.json) return context.output.json(answer)
      context.output.line(context.output.named("paused: nothing starts until svc resume; messages are kept"))
    })
  addExamples(pause, "svc pause --all")
}

export function addResume(program: Command, context: CliContext): void {
  const resume = program.command("resume").description("End the pause; what has waited goes on")
  addGatewayOptions(resume).action(async (options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", "/api/resume", { body: {} })
    if (options.json) return context.output.json(answer)
    const { waiting } = answer as { waiting: number }
    context.output.line(`going on; ${waiting === 1 ? "1 session has" : `${waiting} sessions have`} something waiting`)
  })
  addExamples(resume, "svc resume")
}
