// Question 4: who is the owner? Waits for a message to the bot, asks whether that was the person at the terminal, and lists
// their id. Where no gateway runs the bot's messages are looked at and not confirmed: the first start of the gateway gets
// them again and answers them.
import { setTimeout as delay } from "node:timers/promises"
import type { Update } from "grammy/types"
import { type Client, createClient } from "../channels/chatapp/client.ts"
import { platformRoot } from "../channels/chatapp/config.ts"
import { type CallFailure, describeFailure } from "../channels/chatapp/failure.ts"
import { takePollerLock } from "../channels/chatapp/poller-lock.ts"
import { type ConfigSnapshot, readEnvironment } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import { tokenOf } from "./bot.ts"
import { type Step, type StepContext, confirm, tellWrong } from "./step.ts"

const key = ["channels", "chatapp", "allowFrom"]
const askMs = 10_000
/** The platform holds a question for messages this long. */
const pollSeconds = 5
/** Long enough to find the phone. */
const patienceMs = 10 * 60_000
const lookAgainMs = 1_000
/** The platform gives no more at once. */
const mostUpdates = 100

interface Candidate {
  id: string
  name: string
  said: string
  /** Whether it was written before anybody was asked to write. */
  isOld: boolean
  /** Of a pairing request of the running gateway. */
  request?: { code: string; account?: string }
}

export const ownerStep: Step = {
  name: "owner",
  title: "Owner",
  flags: "--owner <user id|first|none>",
  isGiven: ({ owner }) => owner !== undefined,
  current({ config }) {
    const ids = config.channels.chatapp.allowFrom
    return ids.length === 0 ? undefined : ids.join(", ")
  },
  applies: (snapshot) => tokenOf(snapshot) !== undefined && snapshot.config.channels.chatapp.enabled,
  run: chooseOwner,
}

async function chooseOwner(context: StepContext): Promise<string | undefined> {
  const { settings, answers, conversation, say } = context
  const snapshot = settings.read()
  const bot = tokenOf(snapshot)
  if (bot === undefined || !ownerStep.applies(snapshot)) {
    say("  There is no bot yet that somebody could own: svc setup --bot-token <token>")
    return undefined
  }
  const { owner } = answers
  if (owner === undefined && !conversation)
    throw new AppError("bad-request", `The owner is not settled: pass ${ownerStep.flags}`)
  if (owner === "none") return "nobody yet"
  if (owner !== undefined && owner !== "first") return writeOwner(context, readId(owner))
  const client = await createClient({ token: bot.token, apiRoot: snapshot.config.channels.chatapp.apiRoot })
  try {
    const found = await waitForPerson(context, { snapshot, client, botId: bot.token.slice(0, bot.token.indexOf(":")) })
    if (found === undefined) return "nobody yet"
    writeOwner(context, found.id)
    if (found.request) await letIn(context, found.request)
    else await greet(context, client, found.id)
    return `${found.name} (${found.id})`
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "aborted") throw error
    tellWrong(context, error)
    say("  Nobody is the owner yet: svc setup asks again.")
    return "nobody yet"
  } finally {
    client.close()
  }
}

/** For what they have written: as the owner they are let in by the configuration from now on. */
async function letIn({ gateway, say }: StepContext, request: NonNullable<Candidate["request"]>): Promise<void> {
  try {
    await gateway?.approve(request)
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "aborted") throw error
    say(`  What you have written is not answered: ${error.message}`)
    say("  Write to the bot again: it knows you now.")
  }
}

function readId(text: string): string {
  const id = /^\d{3,19}$/.exec(text.replace(/^id:/, ""))?.[0]
  if (id !== undefined) return id
  const hint = "A user id is a number: @userinfobot tells yours; or pass --owner first and write to the bot"
  throw new AppError("bad-request", `"${text}" is no user id`, { hint })
}

function writeOwner({ settings }: StepContext, id: string): string {
  const { config } = settings.read()
  if (config.channels.chatapp.allowFrom.includes(id)) return id
  // Behind those that are listed, whose comments stay.
  const change =
    config.channels.chatapp.allowFrom.length > 0
      ? { key: [...key, config.channels.chatapp.allowFrom.length], value: Number(id) }
      : { key, value: [Number(id)] }
  settings.write({ config: [change], variables: {} })
  return id
}

/** Undefined: the person does not want to wait. */
async function waitForPerson(
  context: StepContext,
  bot: { snapshot: ConfigSnapshot; client: Client; botId: string },
): Promise<Candidate | undefined> {
  const { conversation, say, signal, gateway } = context
  const me = await bot.client.call("getMe", {}, { timeoutMs: askMs, signal })
  const name = me.ok ? `@${me.value.username}` : "the bot"
  // On another server, such as the emulator, the bot of that name is not the one behind the platform's link.
  const isPlatform = bot.snapshot.config.channels.chatapp.apiRoot === platformRoot
  const link = me.ok && isPlatform ? ` (https://t.me/${me.value.username})` : ""
  const look = gateway ? requestsOf(gateway) : await updatesOf(context, bot)
  try {
    await look.begin()
    say(`  Write anything to ${name}${link}; waiting for your message, Ctrl-C ends it ...`)
    const beganAt = performance.now()
    for (const refused = new Set<string>(); ;) {
      signal.throwIfAborted()
      if (performance.now() - beganAt > patienceMs) {
        throw new AppError("timeout", "Nobody has written to the bot", {
          hint: gateway
            ? "Run it again: svc setup --owner first; who wrote before stands in: svc pairing list chatapp"
            : "Run it again: svc setup --owner first",
        })
      }
      for (const person of await look.next()) {
        if (refused.has(person.id)) continue
        // Where nobody can be asked, what was written before may be a stranger's.
        if (!conversation && person.isOld) continue
        say(`  ${person.name} (id ${person.id}) wrote: ${person.said}`)
        if (await confirm(context, "  Is that you, the owner?", true)) return person
        refused.add(person.id)
        say("  Not let in. Waiting for another message ...")
      }
    }
  } catch (error) {
    if (signal.aborted) throw new AppError("aborted", "Stopped")
    throw error
  } finally {
    look.stop()
  }
}

interface Look {
  /** Whatever is there by then is old. */
  begin(): Promise<void>
  /** Who has written so far; waits a little when there is nobody new. */
  next(): Promise<Candidate[]>
  stop(): void
}

/** The bot's messages go to the running gateway, which keeps who is not let in as a pairing request. */
function requestsOf(gateway: NonNullable<StepContext["gateway"]>): Look {
  let beganAt = 0
  return {
    // The gateway's clock is that of this machine.
    async begin() {
      beganAt = Date.now() - 1_000
    },
    async next() {
      await delay(lookAgainMs)
      const requests = await gateway.listRequests()
      return requests.map(({ senderId, label, code, account, createdAt }) => ({
        id: senderId,
        name: readable(label ?? "somebody"),
        said: "(a message that waits in the gateway)",
        isOld: createdAt < beganAt,
        request: { code, ...(account === undefined ? {} : { account }) },
      }))
    },
    stop: () => undefined,
  }
}

async function updatesOf(
  { settings, signal }: StepContext,
  { snapshot, client, botId }: { snapshot: ConfigSnapshot; client: Client; botId: string },
): Promise<Look> {
  const { apiRoot } = snapshot.config.channels.chatapp
  const { runtimeFolder: folder, stateFolder } = readEnvironment(snapshot.environment.variables)
  const lock = takePollerLock({ folder, apiRoot, botId, owner: { pid: process.pid, stateFolder, account: "setup" } })
  if (lock.kind === "busy") {
    const hint = `Stop it, or pass your id: svc setup --owner <user id>`
    throw new AppError("conflict", `Another gateway reads the messages of this bot (${lock.holder})`, { hint })
  }
  const seen = new Set<number>()
  let old: Update[] = []
  // Without an offset nothing is confirmed; what is there already comes at once, each time.
  const read = async (timeout: number): Promise<Update[]> => {
    const limits = { timeoutMs: askMs + timeout * 1000, signal }
    const updates = await client.call("getUpdates", { timeout, limit: mostUpdates }, limits)
    if (!updates.ok) throw unreadable(updates.failure, settings.configPath)
    const fresh = updates.value.filter(({ update_id: id }) => !seen.has(id))
    for (const { update_id: id } of fresh) seen.add(id)
    if (fresh.length > 0 || updates.value.length < mostUpdates) return fresh
    // What comes after them can only be read by who confirms them, and those would never be answered.
    throw new AppError("conflict", `${mostUpdates} messages to the bot wait already, and hide those that come now`, {
      hint: "Start the gateway, which takes them (svc gateway), then run it again; or pass your id: svc setup --owner <user id>",
    })
  }
  return {
    async begin() {
      old = await read(0)
    },
    async next() {
      const earlier = old.splice(0)
      if (earlier.length > 0) return candidatesOf(earlier, true)
      const fresh = await read(seen.size === 0 ? pollSeconds : 0)
      if (fresh.length === 0 && seen.size > 0) await delay(lookAgainMs, undefined, { signal })
      return candidatesOf(fresh, false)
    },
    stop: () => (lock.kind === "held" ? lock.release() : undefined),
  }
}

function candidatesOf(updates: readonly Update[], isOld: boolean): Candidate[] {
  return updates.flatMap(({ message }) => {
    if (message?.chat.type !== "private" || message.from === undefined || message.from.is_bot) return []
    const { id, first_name: first, last_name: last, username } = message.from
    const name = [first, last, username === undefined ? undefined : `@${username}`].filter(Boolean).join(" ")
    const said = JSON.stringify(readable(message.text ?? message.caption ?? "(a file)"))
    return [{ id: String(id), name: readable(name), said, isOld }]
  })
}

function unreadable(failure: CallFailure, configPath: string): AppError {
  const isTaken = failure.kind === "refused" && failure.code === 409
  const hint = isTaken
    ? `Another program or a webhook gets the messages of this bot: end it, or pass your id: svc setup --owner <user id> (${configPath})`
    : "Check the network, then run it again"
  return new AppError("platform-refused", `The bot's messages could not be read: ${describeFailure(failure)}`, { hint })
}

const mostCharacters = 60

/** Words of others, for a terminal. */
function readable(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").trim()
  return plain.length > mostCharacters ? `${plain.slice(0, mostCharacters)}...` : plain
}

async function greet({ say, signal }: StepContext, client: Client, id: string): Promise<void> {
  const text = "You are the owner of this bot now. What you have written is answered as soon as its gateway runs."
  const sent = await client.call("sendMessage", { chat_id: Number(id), text }, { timeoutMs: askMs, signal })
  if (!sent.ok) say(`  A greeting could not be sent: ${describeFailure(sent.failure)}`)
}
