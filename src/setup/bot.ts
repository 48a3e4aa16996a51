// Question 2: the bot's token, checked by asking the platform who it is.
import type { ConfigSnapshot } from "../config/index.ts"
import { createClient } from "../channels/chatapp/client.ts"
import { describeFailure, isTokenRefused } from "../channels/chatapp/failure.ts"
import { resolveToken, tokenPattern } from "../channels/chatapp/token.ts"
import { createSettings } from "../channels/chatapp/settings.ts"
import { AppError, createRedactor } from "../kernel/index.ts"
import pino from "pino"
import type { Answer, Change } from "./settings.ts"
import { type Step, type StepContext, tellWrong } from "./step.ts"

const askMs = 10_000
const base = ["channels", "chatapp"]
const variable = "CHATAPP_BOT_TOKEN"

export const botStep: Step = {
  name: "bot",
  title: "Bot",
  flags: "--bot-token <token|none>",
  isGiven: ({ botToken, apiRoot }) => botToken !== undefined || apiRoot !== undefined,
  current(snapshot) {
    const { chatapp } = snapshot.config.channels
    if (!chatapp.enabled) return "none: the chat is switched off"
    const found = tokenOf(snapshot)
    return found && `bot ${found.token.slice(0, found.token.indexOf(":"))} (token in ${found.where})`
  },
  applies: () => true,
  run: chooseBot,
}

/** Of the default account. */
export function tokenOf(snapshot: ConfigSnapshot): { token: string; where: string } | undefined {
  const { config, environment } = snapshot
  const found = resolveToken({
    settings: createSettings(() => config).account("default"),
    environmentToken: environment.chatappBotToken,
    stateFolder: environment.stateFolder,
    redactor: createRedactor(),
    log: pino({ level: "silent" }),
  })
  if (found.kind !== "found") return undefined
  const fromFile = environment.envFile.values[variable] === found.token
  const places = { tokenFile: "its file", config: "the configuration", env: fromFile ? ".env" : "the environment" }
  return { token: found.token, where: places[found.source] }
}

async function chooseBot(context: StepContext): Promise<string | undefined> {
  const { settings, answers, conversation, say } = context
  let given = answers.botToken ?? (answers.apiRoot === undefined ? undefined : tokenOf(settings.read())?.token)
  if (given === undefined && conversation) {
    say("  Make a bot with @BotFather in the chat app (/newbot); it gives you a token like 123456789:AAF...")
  }
  for (;;) {
    try {
      const token =
        given ?? (await conversation?.ask("Token of the bot (not shown; Enter: no chat): ", { hidden: true }))
      if (token === undefined) throw new AppError("bad-request", `The bot is not settled: pass ${botStep.flags}`)
      if (token === "" || token === "none") return switchOff(context)
      const problem = tokenProblem(token)
      if (problem !== undefined) throw new AppError("bad-request", problem)
      const answer = answerFor(settings.read(), token, answers.apiRoot)
      const apiRoot = settings.preview(answer).config.channels.chatapp.apiRoot
      const name = await whoIs(token, { apiRoot, signal: context.signal })
      settings.write(answer)
      say(`  it is @${name}`)
      if (settings.isSetOutside(variable))
        say(`  ${variable} is also set at this terminal, and wins over ${settings.envPath} here`)
      return `@${name}`
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "aborted") throw error
      tellWrong(context, error)
    }
    given = undefined
  }
}

function switchOff({ settings, say }: StepContext): string {
  settings.write({ config: [{ key: [...base, "enabled"], value: false }], variables: {} })
  say("  no chat; svc setup --bot-token <token> adds one later")
  return "none: the chat is switched off"
}

/** A token that the configuration names by a variable stays there; every other goes to `.env` and out of the configuration. */
function answerFor(snapshot: ConfigSnapshot, token: string, apiRoot: string | undefined): Answer {
  const { source, config } = snapshot
  const written = (source["channels"] as { chatapp?: { botToken?: unknown } } | undefined)?.chatapp?.botToken
  const named = typeof written === "string" ? /^\$\{([A-Z_][A-Z0-9_]*)\}$/.exec(written)?.[1] : undefined
  const isElsewhere = config.channels.chatapp.tokenFile !== undefined
  const changes: Change[] = [
    ...(config.channels.chatapp.enabled ? [] : [{ key: [...base, "enabled"], value: undefined }]),
    ...(written === undefined || named !== undefined ? [] : [{ key: [...base, "botToken"], value: undefined }]),
    ...(isElsewhere ? [{ key: [...base, "tokenFile"], value: undefined }] : []),
    ...(apiRoot === undefined ? [] : [{ key: [...base, "apiRoot"], value: apiRoot }]),
  ]
  return { config: changes, variables: { [named ?? variable]: token } }
}

/** What is wrong with the form of a token, and what it looks like instead; undefined when nothing is. */
export function tokenProblem(token: string): string | undefined {
  if (tokenPattern.test(token)) return undefined
  const form = "A bot token is <digits>:<letters and digits>, such as 123456789:AAF..."
  const looks = looksLike(token)
  return looks === undefined ? form : `That looks like ${looks}. ${form}`
}

function looksLike(text: string): string | undefined {
  if (/\s/.test(text)) return "more than the token: copy it alone, without spaces"
  if (/^@?\w{3,}bot$/i.test(text)) return "the name of the bot"
  if (text.startsWith("@")) return "a name"
  if (/^https?:/.test(text)) return "an address"
  if (/^bot\d+:/.test(text)) return 'a part of an address: leave out "bot" in front'
  if (/^(sk|gsk|xai|csk|AIza)[-_A-Za-z0-9]{10,}$/.test(text)) return "a key of a model, not of a bot"
  if (/^\d+$/.test(text)) return "an id, or the first half of a token"
  if (/^\d{1,20}:[\w-]{0,9}$/.test(text)) return "a token that is cut off at its end"
  if (/^[\w-]{30,60}$/.test(text)) return "the second half of a token"
  if (/^\$\{?\w+\}?$|^<.*>$/.test(text)) return "a placeholder"
  return undefined
}

async function whoIs(token: string, { apiRoot, signal }: { apiRoot: string; signal: AbortSignal }): Promise<string> {
  const client = await createClient({ token, apiRoot })
  try {
    const me = await client.call("getMe", {}, { timeoutMs: askMs, signal })
    if (signal.aborted) throw new AppError("aborted", "Stopped")
    if (me.ok) return me.value.username
    if (isTokenRefused(me.failure)) {
      const hint = "Copy it once more from @BotFather (/mybots, API Token); a token that was revoked never works again"
      throw new AppError("platform-refused", `The platform does not know this token (${describeFailure(me.failure)})`, {
        hint,
      })
    }
    const hint = `Check the network, and the address of the platform (${apiRoot})`
    throw new AppError("platform-unreachable", `The platform could not be asked: ${describeFailure(me.failure)}`, {
      hint,
    })
  } finally {
    client.close()
  }
}
