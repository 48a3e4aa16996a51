// Question 1: which model, and its key. An answer holds only when the model has answered a tiny request with the real
// tools (`svc models test` makes the same).
import type { ConfigSnapshot } from "../config/index.ts"
import { AppError, isJsonObject } from "../kernel/index.ts"
import { modelsOf } from "../main/models/cli.ts"
import type { ModelCheck } from "../models/check/contract.ts"
import {
  type Place,
  entryOf,
  hasAddress,
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
  applies: () => true,
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
  let place: Place = { url: answers.modelUrl, region: answers.region, project: answers.project }
  if (place.url !== undefined && !isAddress(place.url)) {
    tellWrong(context, noAddress(place.url))
    place = { ...place, url: undefined }
  }
  if (given === undefined) showProviders(context)
  for (;;) {
    try {
      const choice = await readChoice(context, given, place)
      const answer = await tryModel(context, choice, key)
      if (answer) {
        settings.write(answer)
        return `${choice.provider}/${choice.model}`
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "aborted") throw error
      tellWrong(context, error)
    }
    given = undefined
    key = undefined
  }
}

async function readChoice(context: StepContext, given: string | undefined, placed: Place): Promise<Choice> {
  const { config } = context.settings.read()
  const providers = config.models.providers
  const text = given ?? (await askWhich(context))
  const { provider, model } = readModelAnswer(text === "" ? "offline" : text, Object.keys(providers))
  if (provider === "offline") return { provider, model: offlineModel.slice("offline/".length), place: {} }
  const place = await readPlace(context, provider, { placed, needed: neededPlace(provider, providers[provider]) })
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
  context: StepContext,
  provider: string,
  { placed, needed }: { placed: Place; needed: (keyof Place)[] },
): Promise<Place> {
  const { conversation } = context
  const place: Place = { ...placed }
  const questions = {
    region: { flag: "--region <name>", words: "Region, such as eu-central-1: " },
    project: { flag: "--project <id>", words: "Id of the project: " },
  }
  for (const name of needed) {
    if (place[name] !== undefined) continue
    if (name === "url") place.url = await askAddress(context, provider)
    else {
      if (!conversation) throw missing(questions[name].flag)
      place[name] = needsWords(provider, await conversation.ask(questions[name].words))
    }
  }
  return place
}

async function askAddress(context: StepContext, provider: string): Promise<string> {
  const { conversation } = context
  if (!conversation) throw missing("--model-url <address>")
  for (;;) {
    const answer = needsWords(
      provider,
      await conversation.ask(`Address of ${provider}, such as http://127.0.0.1:8000/v1: `),
    )
    if (isAddress(answer)) return answer
    tellWrong(context, noAddress(answer))
  }
}

function needsWords(provider: string, answer: string): string {
  if (answer === "") throw new AppError("bad-request", `${provider} cannot be used without it`)
  return answer
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/\S+$/.test(text)
}

function noAddress(text: string): AppError {
  return new AppError("bad-request", `${JSON.stringify(text)} is no address`, {
    hint: "Write it whole, such as http://127.0.0.1:8000/v1",
  })
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
  if (chosen === undefined || /\s/.test(chosen)) {
    throw new AppError("bad-request", "A model has a name without spaces, as its provider writes it")
  }
  return chosen.startsWith(`${provider}/`) ? chosen.slice(provider.length + 1) : chosen
}

function missing(flag: string): AppError {
  return new AppError("bad-request", `The model is not settled: pass ${flag}`, { hint: "see: svc setup --help" })
}

function changesFor(snapshot: ConfigSnapshot, { provider, model, place }: Choice): Change[] {
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
  return [
    ...entries,
    { key: ["agents", "defaults", "model", ...(hasFallbacks ? ["primary"] : [])], value: `${provider}/${model}` },
  ]
}

/** Undefined: another model is wanted. */
async function tryModel(
  context: StepContext,
  choice: Choice,
  givenKey: string | undefined,
): Promise<Answer | undefined> {
  const { settings, conversation, signal } = context
  const { provider } = choice
  const variable = keyVariableOf(provider)
  let key = givenKey
  let { place } = choice
  for (;;) {
    const problem = key === undefined ? undefined : keyProblem(key)
    if (problem !== undefined) throw new AppError("bad-request", problem)
    const answer: Answer = {
      config: changesFor(settings.read(), { ...choice, place }),
      variables: key === undefined ? {} : { [variable]: key },
    }
    const check = await checkModel(context, answer, `${provider}/${choice.model}`)
    if (check.usable) {
      tellWorks(context, check)
      if (key !== undefined) tellIfSetOutside(context, variable)
      return answer
    }
    const told = check.failure ?? { message: "it does not work", hint: null, kind: "broken" as const }
    const isKeys = told.kind === "key-missing" || told.kind === "key"
    const failure = new AppError(
      told.kind === "key-missing" ? "model-key-missing" : "model-failed",
      told.message,
      hintOf(told.hint, isKeys, variable),
    )
    if (!conversation) throw failure
    if (told.kind !== "key-missing") tellWrong(context, failure)
    const isElsewhere = told.kind === "network" && hasAddress(provider)
    const next = isKeys ? await askKey(context, provider, variable) : await askNext(context, isElsewhere)
    if (next.kind === "other") return undefined
    if (next.kind === "keep") return answer
    if (next.kind === "address") place = { ...place, url: await askAddress(context, provider) }
    else key = next.key ?? key
    signal.throwIfAborted()
  }
}

function tellIfSetOutside({ settings, say }: StepContext, variable: string): void {
  if (!settings.isSetOutside(variable)) return
  say(`  ${variable} is also set at this terminal, and wins over ${settings.envPath} here`)
}

function hintOf(hint: string | null, isKeys: boolean, variable: string): { hint?: string } {
  if (isKeys) return { hint: `Pass --model-key <key>, or set ${variable}` }
  return hint === null ? {} : { hint }
}

type Next = { kind: "again"; key?: string } | { kind: "address" } | { kind: "other" } | { kind: "keep" }

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

async function askNext({ conversation }: StepContext, isElsewhere: boolean): Promise<Next> {
  const address = isElsewhere ? "a: another address, " : ""
  for (;;) {
    const question = `Enter: try again, ${address}o: another model, k: keep it all the same: `
    const answer = ((await conversation?.ask(question)) ?? "o").toLowerCase()
    if (answer === "") return { kind: "again" }
    if (answer === "a" && isElsewhere) return { kind: "address" }
    if (answer === "o") return { kind: "other" }
    if (answer === "k") return { kind: "keep" }
    conversation?.say(`  Please press Enter, or answer ${isElsewhere ? "a, o or k" : "o or k"}.`)
  }
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
