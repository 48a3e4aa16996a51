// `svc models ...`: which models are configured, and whether they work. The running gateway is asked; where none runs, the
// same is done in this process from the configuration, so that a key can be tried before the first start.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { ModelList, ModelTest } from "../../src/gateway/api.ts"
import { AppError } from "../../src/kernel/errors.ts"
import type { openModels as OpenModels } from "../../src/main/models/cli.ts"
import type { ModelCheck } from "../../src/models/check/contract.ts"
import { siblingProgram, stateFolder, type CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { addExamples, addGatewayOptions, addLocalOptions, type GatewayOptions, wholeNumber } from "../options.ts"
import { describeCheck, describeModels } from "../models/describe.ts"

/** For the way to the gateway and back, above the time that the check itself may take. */
const graceMs = 15_000

export function addModels(program: Command, context: CliContext): void {
  const models = program.command("models").description("Show the configured models, and try whether they work")
  addList(models, context)
  addTest(models, context)
  addExamples(models, "svc models list", "svc models test", "svc models test anthropic/claude-sonnet-4-5")
}

function addList(models: Command, context: CliContext): void {
  const list = models
    .command("list")
    .description("Show each configured model: what it is there for, whether it has a key, what it takes and costs")
  addGatewayOptions(list).action(async (options: GatewayOptions) => {
    const { list: found } = await findModels(context, options)
    if (options.json) return context.output.json(found)
    context.output.write(describeModels(found.models))
  })
  addExamples(list, "svc models list", "svc models list --json")
}

interface TestOptions {
  json?: true
  stateDir?: string
  timeout: number
}

function addTest(models: Command, context: CliContext): void {
  const test = models
    .command("test")
    .description("Ask a model one small question with the real tools, and tell what of it works")
    .argument("[model]", "provider/model or an alias; left out: the default one, then each of its fallbacks")
  addLocalOptions(test)
    .option(
      "--timeout <s>",
      "seconds that each model may take; a CPU may need minutes",
      wholeNumber("--timeout", 1, 3600),
      60,
    )
    .action(async (model: string | undefined, options: TestOptions) => {
      const { list, test: ask } = await findModels(context, { stateDir: options.stateDir })
      const checks: ModelCheck[] = []
      for (const each of model === undefined ? list.asked : [model]) {
        context.output.note(`asking ${each} ...`)
        const check = await ask({ model: each, timeoutSeconds: options.timeout })
        checks.push(check)
        if (!options.json) context.output.write(describeCheck(check))
      }
      const isUsable = checks.every((check) => check.usable)
      if (options.json) context.output.json({ usable: isUsable, checks })
      if (!isUsable) context.exitCode = 1
    })
  addExamples(
    test,
    "svc models test",
    "svc models test openai/gpt-5 --json",
    "svc models test local/qwen3:8b --timeout 300",
  )
  test.addHelpText("after", "\nEnds with 0 when each model can be used, with 1 when one cannot.")
}

interface Models {
  list: ModelList
  test(test: ModelTest & { timeoutSeconds: number }): Promise<ModelCheck>
}

/** Of the running gateway, else of the configuration. */
async function findModels(
  context: CliContext,
  options: { stateDir?: string | undefined; timeout?: number },
): Promise<Models> {
  const { stateDir, timeout } = options
  const where = { ...(stateDir === undefined ? {} : { stateDir }), ...(timeout === undefined ? {} : { timeout }) }
  try {
    const gateway = connectGateway(context, where)
    const list = (await gateway.call("GET", "/api/models")) as ModelList
    return {
      list,
      test: async (body) =>
        (await gateway.call("POST", "/api/models/test", {
          body,
          timeoutMs: body.timeoutSeconds * 1000 + graceMs,
        })) as ModelCheck,
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "gateway-unreachable") throw error
  }
  context.output.note("no gateway runs: this is by the configuration alone")
  return await openOwn(context, stateDir)
}

async function openOwn(context: CliContext, stateDir: string | undefined): Promise<Models> {
  const program = siblingProgram(context, "model-commands.mjs", "src/main/models/cli.ts")
  const { openModels } = (await import(pathToFileURL(program).href)) as { openModels: typeof OpenModels }
  const models = openModels({ ...context.environment, SVC_STATE_DIR: stateFolder(context, stateDir) })
  return {
    list: models.list(),
    async test(question) {
      const signal = context.interrupted()
      try {
        return await models.test(question, signal)
      } catch (error) {
        if (signal.aborted) throw new AppError("aborted", "Stopped")
        throw error
      }
    },
  }
}
