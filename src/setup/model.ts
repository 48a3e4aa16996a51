// Question 1: which model, and its key. An answer holds only when the model has answered a tiny request with the real
// tools (`svc models test` makes the same).
import type { ConfigSnapshot } from "../config/index.ts"
import { AppError, isJsonObject } from "../kernel/index.ts"
import { modelsOf } from "../main/models/cli.ts"
import type { ModelCheck } from "../models/check/contract.ts"
import {
  type Place,
  entryOf,
  keyProblem,
  keyVariableOf,
  neededPlace,
  offeredProviders,
  offlineModel,
  readModelAnswer,
  suggestModels,
} from "./providers.ts"
import type { Answer, Change } from "./settings.ts"
import { type Step, type StepContext, tellWrong } from "./step.ts"

const checkSeconds = 60
const suggestions = 8

export const modelStep: Step = {
  name: "model",
  title: "Model",
  flags: "--model <provider/model|offline> [--model-key <key>]",
  isGiven: ({ model, modelKey }) => model !== undefined || modelKey !== undefined,
  current: (snapshot) => (snapshot.source["agents"] === undefined ? undefined : describe(snapshot)),
  run: chooseModel,
}

function describe({ config }: ConfigSnapshot): string | undefined {
  return config.agents.defaults.model?.primary
}

interface Choice {
  provider: string
  model: string
  place: Place
}

async function chooseModel(context: StepContext): Promise<string> {
  const { settings, answers } = context
  let given: string | undefined =
    answers.model ?? (answers.modelKey === undefined ? undefined : describe(settings.read()))
  let key = answers.modelKey
  if (given === undefined) showProviders(context)
  for (;;) {
    try {
      const choice = await readChoice(context, given)
      const id = `${choice.provider}/${choice.model}`
      const answer = await tryModel(context, choice, { config: changesFor(settings.read(), id, choice), key })
      if (answer) {
        settings.write(answer)
        return id
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "aborted") throw error
      tellWrong(context, error)
    }
    given = undefined
    key = undefined
  }
}

async function readChoice(context: StepContext, given: string | undefined): Promise<Choice> {
  const { config } = context.settings.read()
  const providers = config.models.providers
  const text = given ?? (await askWhich(context))
  const { provider, model } = readModelAnswer(text === "" ? "offline" : text, Object.keys(providers))
  if (provider === "offline") return { provider, model: offlineModel.slice("offline/".length), place: {} }
  const place = await readPlace(context, provider, neededPlace(provider, providers[provider]))
  return { provider, model: model ?? (await askName(context, provider, place)), place }
}

async function askWhich({ conversation }: StepContext): Promise<string> {
  if (!conversation) throw missing("--model <provider/model|offline>")
  return await conversation.ask("Number, provider, or provider/model [offline]: ")
}

function showProviders({ conversation, settings }: StepContext): void {
  const configured = Object.keys(settings.read().config.models.providers)
  const own = configured.filter((name) => !offeredProviders.some((offered) => offered.name === name))
  offeredProviders.forEach(({ name, what }, index) =>
    conversation?.say(`${String(index + 1).padStart(4)}  ${name.padEnd(12)}${what}`),
  )
  if (own.length > 0) conversation?.say(`      configured too: ${own.join(", ")}`)
}

async function readPlace(
  { conversation, answers }: StepContext,
  provider: string,
  needed: (keyof Place)[],
): Promise<Place> {
  const place: Place = { url: answers.modelUrl, region: answers.region, project: answers.project }
  const questions = {
    url: { flag: "--model-url <address>", words: `Address of ${provider}, such as http://127.0.0.1:8000/v1: ` },
    region: { flag: "--region <name>", words: "Region, such as eu-central-1: " },
    project: { flag: "--project <id>", words: "Id of the project: " },
  }
  for (const name of needed) {
    if (place[name] !== undefined) continue
    if (!conversation) throw missing(questions[name].flag)
    const answer = await conversation.ask(questions[name].words)
    if (answer === "") throw new AppError("bad-request", `${provider} cannot be used without it`)
    place[name] = answer
  }
  return place
}

async function askName({ conversation, say }: StepContext, provider: string, place: Place): Promise<string> {
  if (!conversation) throw missing(`--model ${provider}/<model>`)
  const known = suggestModels(provider, suggestions)
  known.forEach((name, index) => say(`${String(index + 1).padStart(4)}  ${name}`))
  const where = place.url === undefined ? provider : `${provider} at ${place.url}`
  const usual = known[0] === undefined ? "" : ` [${known[0]}]`
  const answer = await conversation.ask(
    `${known.length > 0 ? "Number or name" : "Name"} of the model at ${where}${usual}: `,
  )
  const chosen =
    (/^\d{1,2}$/.test(answer) ? known[Number(answer) - 1] : undefined) ?? (answer === "" ? known[0] : answer)
  if (chosen === undefined) throw new AppError("bad-request", "A model has a name, as its provider writes it")
  return chosen.startsWith(`${provider}/`) ? chosen.slice(provider.length + 1) : chosen
}

function missing(flag: string): AppError {
  return new AppError("bad-request", `The model is not settled: pass ${flag}`, { hint: "see: svc setup --help" })
}

function changesFor(snapshot: ConfigSnapshot, id: string, { provider, place }: Choice): Change[] {
  const entry = provider === "offline" ? undefined : entryOf(provider, place)
  const isConfigured = snapshot.config.models.providers[provider] !== undefined
  const placed = Object.entries({ baseUrl: place.url, region: place.region, project: place.project })
  const entries: Change[] =
    entry === undefined
      ? []
      : isConfigured
        ? placed.flatMap(([name, value]) =>
            value === undefined ? [] : [{ key: ["models", "providers", provider, name], value }],
          )
        : [{ key: ["models", "providers", provider], value: entry }]
  // Fallbacks that stand beside it stay.
  const { agents } = snapshot.source
  const defaults = isJsonObject(agents) ? agents["defaults"] : undefined
  const hasFallbacks = isJsonObject(defaults) && isJsonObject(defaults["model"])
  return [...entries, { key: ["agents", "defaults", "model", ...(hasFallbacks ? ["primary"] : [])], value: id }]
}

/** Undefined: another model is wanted. */
async function tryModel(
  context: StepContext,
  choice: Choice,
  given: { config: Change[]; key: string | undefined },
): Promise<Answer | undefined> {
  const { settings, conversation, say, signal } = context
  const id = `${choice.provider}/${choice.model}`
  const variable = keyVariableOf(choice.provider)
  const { config } = given
  let { key } = given
  for (;;) {
    if (key !== undefined) {
      const problem = keyProblem(key)
      if (problem !== undefined) throw new AppError("bad-request", problem)
    }
    const answer: Answer = { config, variables: key === undefined ? {} : { [variable]: key } }
    const check = await checkModel(context, answer, id)
    if (check.usable) {
      tellWorks(context, check)
      if (key !== undefined && settings.isSetOutside(variable)) {
        say(`  ${variable} is also set at this terminal, and wins over ${settings.envPath} here`)
      }
      return answer
    }
    const { message, hint, kind } = check.failure ?? {
      message: "it does not work",
      hint: null,
      kind: "broken" as const,
    }
    const isKeys = kind === "key-missing" || kind === "key"
    const failure = new AppError(
      kind === "key-missing" ? "model-key-missing" : "model-failed",
      message,
      hintOf(hint, isKeys, variable),
    )
    if (!conversation) throw failure
    if (kind !== "key-missing") tellWrong(context, failure)
    const next = isKeys ? await askKey(context, choice.provider, variable) : await askNext(context)
    if (next.kind === "other") return undefined
    if (next.kind === "keep") return answer
    key = next.key ?? key
    signal.throwIfAborted()
  }
}

function hintOf(hint: string | null, isKeys: boolean, variable: string): { hint?: string } {
  if (isKeys) return { hint: `Pass --model-key <key>, or set ${variable}` }
  return hint === null ? {} : { hint }
}

type Next = { kind: "again"; key?: string } | { kind: "other" } | { kind: "keep" }

async function askKey({ conversation }: StepContext, provider: string, variable: string): Promise<Next> {
  for (;;) {
    const key =
      (await conversation?.ask(`Key of ${provider} (not shown; Enter: another model): `, { hidden: true })) ?? ""
    if (key === "") return { kind: "other" }
    const problem = keyProblem(key)
    if (problem === undefined) return { kind: "again", key }
    conversation?.say(`  ${problem}. It goes to ${variable} in .env.`)
  }
}

async function askNext({ conversation }: StepContext): Promise<Next> {
  const answer = (await conversation?.ask("Enter: try again, o: another model, k: keep it all the same: ")) ?? "o"
  if (answer === "k") return { kind: "keep" }
  return answer === "" ? { kind: "again" } : { kind: "other" }
}

async function checkModel({ settings, say, signal }: StepContext, answer: Answer, id: string): Promise<ModelCheck> {
  const models = modelsOf(settings.preview(answer))
  if (id !== offlineModel) say(`  asking ${id} ...`)
  try {
    return await models.test({ model: id, timeoutSeconds: checkSeconds }, signal)
  } catch (error) {
    if (signal.aborted) throw new AppError("aborted", "Stopped")
    throw error
  }
}

function tellWorks({ say }: StepContext, { model, durationMs, advice }: ModelCheck): void {
  if (model === offlineModel) return say("  the offline model follows fixed commands: try /help in the chat")
  say(`  ${model} works (${(durationMs / 1000).toFixed(1)} s)`)
  for (const words of advice) say(`  note: ${words}`)
}
