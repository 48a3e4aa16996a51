// What the `svc webhooks gmail` commands do. Loaded only when one of them runs.
import { join } from "node:path"
import { type Config, type Variables, loadConfigOrThrow, readEnvironment, setConfigValue } from "../../config/index.ts"
import {
  AppError,
  type Clock,
  type Json,
  type Redactor,
  createLog,
  createRedactor,
  describeError,
  isJsonObject,
  systemClock,
  systemIds,
  toErrorBody,
} from "../../kernel/index.ts"
import { createVerifier } from "../verify/index.ts"
import { createAccountTokens } from "./account-tokens.ts"
import type { CommonOptions, GmailCommandIo, SetupFlags, StopFlags } from "./cli.ts"
import { type GmailView, type GoogleRoots, googleRoots } from "./contract.ts"
import { type PrintedCall, createDryTransport, withoutToken } from "./dry-run.ts"
import { type GmailCredentials, type GmailFiles, gmailFiles } from "./files.ts"
import { GoogleError, type Transport, createGoogleCaller } from "./google-call.ts"
import { createMailbox } from "./mailbox.ts"
import { revokeToken } from "./oauth.ts"
import { batchUrl, createBatchPoster } from "./post-batch.ts"
import { setUpGmail } from "./setup.ts"
import { describeRecord } from "./status.ts"
import { closeParameters, closeTunnel, createTailscale, openParameters, openTunnel, tunnelOf } from "./tunnel.ts"
import { createGmailWatch } from "./watch.ts"
import { readClient, readTunnel, readWishes } from "./wishes.ts"

interface Context {
  io: GmailCommandIo
  options: CommonOptions
  stateFolder: string
  configPath: string
  config: Config
  view: (GmailView & { hookUrl?: string | undefined }) | undefined
  hasGmail: boolean
  variables: Variables
  files: GmailFiles
  roots: GoogleRoots
  clock: Clock
  redactor: Redactor
  /** The calls of a dry run. */
  calls: PrintedCall[]
}

export async function runSetup(io: GmailCommandIo, flags: SetupFlags): Promise<void> {
  await perform(io, flags, async (context) => {
    const { clock, config, files, redactor, roots, view } = context
    const client = await readClient(io, flags, files.credentials.read())
    if (client.clientSecret !== undefined) redactor.add(client.clientSecret)
    const pushEndpoint = flags.pushEndpoint ?? (await openTunnelFor(context, flags))
    const wishes = readWishes({ ...flags, ...(pushEndpoint ? { pushEndpoint } : {}) }, client, view, io, systemIds)
    redactor.add(wishes.pushToken)
    const transport = transportOf(context, wishes)
    const result = await setUpGmail({
      wishes,
      client,
      files: flags.dryRun ? withoutWrites(context) : files,
      caller: createGoogleCaller({ clock, transport }),
      roots,
      clock,
      ids: systemIds,
      redactor,
      setConfig: (key, value) => writeConfigKey(context, key, value),
      hooks: { token: config.hooks.token, presets: config.hooks.presets, hasGmail: context.hasGmail },
      show: (address, purpose) => io.stderr(`\nOpen this address to sign in to ${purpose}:\n\n  ${address}\n\n`),
      ...pasteOf(context, flags),
      progress: (step) => io.stderr(`- ${step}\n`),
      signal: io.signal,
    })
    const lines = [
      `watching ${result.account} until ${result.watchExpiresAt}, then renewed by the gateway`,
      `pushes come through ${result.subscription}, signed by ${result.serviceAccount}`,
      "restart the gateway, or run: svc webhooks gmail run",
    ]
    return flags.dryRun ? { reply: {}, lines: [] } : { reply: { ...result }, lines }
  })
}

/** The address of the tunnel that is wished for; undefined without one, or where Google cannot come by it. */
async function openTunnelFor(context: Context, flags: SetupFlags): Promise<string | undefined> {
  const { io, variables, view } = context
  const tunnel = readTunnel(flags, view)
  if (!tunnel) return undefined
  if (flags.dryRun) {
    io.stderr(`would run: tailscale ${openParameters(tunnel).join(" ")}\n`)
    return tunnel.mode === "funnel" ? `https://machine.tailnet.ts.net${tunnel.path}` : undefined
  }
  io.stderr(`- open the tunnel: tailscale ${openParameters(tunnel).join(" ")}\n`)
  const address = await openTunnel(tunnel, createTailscale(variables), io.signal)
  return tunnel.mode === "funnel" ? address : undefined
}

function pasteOf(context: Context, flags: SetupFlags): { paste?: (question: string) => Promise<string> } {
  if (flags.dryRun) return { paste: async () => "dry-run-code" }
  // What is pasted holds a code that can be exchanged for a token.
  return flags.paste ? { paste: (question) => context.io.prompt(question, { hidden: true }) } : {}
}

export async function runWatch(io: GmailCommandIo, options: CommonOptions): Promise<void> {
  await perform(io, options, async (context) => {
    const { clock, config, redactor, stateFolder } = context
    const view = requireView(context)
    const { path, token } = config.hooks
    const url = batchUrl({ hookUrl: view.hookUrl, gateway: config.gateway, path })
    if (token === undefined) throw new AppError("config-invalid", "hooks.token is missing", { hint: setupHint })
    if (options.dryRun) return await dryWatch(context, view, url)
    redactor.add(token)
    const { log, flush } = createLog({
      folder: join(stateFolder, "gmail", "logs"),
      level: "info",
      redactor,
      console: { write: (text) => io.stderr(text), colour: false, level: "info" },
    })
    const watch = createGmailWatch({
      config: () => view,
      stateFolder,
      clock,
      log,
      redactor,
      deliver: createBatchPoster({ url, token, clock }),
      verifier: createVerifier({ clock, log }),
      tailscale: createTailscale(context.variables),
      apiRoots: context.roots,
    })
    context.files.setStopped(false)
    await watch.start()
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve()
      else io.signal.addEventListener("abort", () => resolve(), { once: true })
    })
    await watch.stop()
    flush()
    return { reply: { ...watch.status() }, lines: ["stopped"] }
  })
}

/** One round of what the watch does, for a mail that is not there. */
async function dryWatch(context: Context, view: GmailView & { account: string }, hookUrl: string) {
  const { clock, redactor, roots } = context
  const [, project = "project"] = view.topic?.split("/") ?? []
  const caller = createGoogleCaller({
    clock,
    transport: transportOf(context, { account: view.account, project }),
  })
  const tokens = createAccountTokens({ files: withoutWrites(context), caller, roots, clock, redactor })
  const mailbox = createMailbox({ caller, tokens, roots })
  const labelId = await mailbox.labelId(view.label).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not-found") return view.label
    throw error
  })
  await mailbox.watch({ topic: view.topic ?? "", labelId })
  await mailbox.historySince({ historyId: context.files.watch.read()?.historyId ?? "1", labelId })
  await mailbox.message("<message id>", view)
  show(context, { method: "POST", url: hookUrl, body: { messages: ["..."] } })
  return { reply: {}, lines: [] }
}

export async function showStatus(io: GmailCommandIo, options: CommonOptions): Promise<void> {
  await perform(io, options, async (context) => {
    const { files, view } = context
    const record = files.watch.read()
    const credentials = files.credentials.read()
    const push = files.push.read()
    const expired = (record?.watchExpiresAt ?? 0) <= context.clock.now()
    const state = files.isStopped() ? "stopped" : !credentials ? "signed-out" : expired ? "lapsed" : "registered"
    const reply = {
      ...(record ? describeRecord(record) : {}),
      state: view?.account === undefined ? "off" : state,
      account: view?.account ?? null,
      signedInAs: credentials?.account ?? null,
      topic: view?.topic ?? null,
      pushEndpoint: push?.endpoint ?? null,
      tailscale: view?.tailscale?.mode ?? "off",
      serviceAccount: push?.serviceAccount ?? null,
    }
    const lines = Object.entries(reply)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}: ${String(value)}`)
    return { reply, lines }
  })
}

export async function stopWatch(io: GmailCommandIo, options: StopFlags): Promise<void> {
  await perform(io, options, async (context) => {
    const { clock, files, redactor, roots } = context
    const transport = transportOf(context, { account: "", project: "" })
    const caller = createGoogleCaller({ clock, transport })
    const kept = options.dryRun ? withoutWrites(context) : files
    const tokens = createAccountTokens({ files: kept, caller, roots, clock, redactor })
    const refreshToken = kept.credentials.read()?.refreshToken
    const steps = [() => createMailbox({ caller, tokens, roots }).stopWatch(io.signal)]
    if (options.forget && refreshToken !== undefined) {
      steps.push(() => revokeToken({ caller, roots, signal: io.signal }, refreshToken))
    }
    // First the mark: whatever Google says, the gateway registers no more.
    kept.setStopped(true)
    // And the way in from the internet: a sign-in that Google no longer takes is no reason to leave it open.
    await closeTunnelOf(context)
    for (const step of steps) await forgiving(step, options.forget === true, io)
    if (options.forget) for (const file of [kept.credentials, kept.push, kept.watch]) file.remove()
    const lines = ["stopped: Gmail pushes no more; to begin again: svc webhooks gmail setup"]
    return options.dryRun ? { reply: {}, lines: [] } : { reply: { state: "stopped" }, lines }
  })
}

/** A tunnel that cannot be closed leads to a listener that is not there; the person is told. */
async function closeTunnelOf({ io, options, variables, view }: Context): Promise<void> {
  const tunnel = view && tunnelOf(view)
  if (!tunnel) return
  if (options.dryRun) return io.stderr(`would run: tailscale ${closeParameters(tunnel).join(" ")}\n`)
  await forgiving(() => closeTunnel(tunnel, createTailscale(variables), io.signal), true, io)
}

/** Who wants to forget a sign-in must be able to, also when Google has forgotten it before. */
async function forgiving(step: () => Promise<void>, forget: boolean, io: GmailCommandIo): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!forget) throw error
    io.stderr(`${describeError(error)}\n`)
  }
}

const setupHint = "Run: svc webhooks gmail setup --account <address>"

function requireView(context: Context): GmailView & { account: string; hookUrl?: string | undefined } {
  const { options, view } = context
  const account = view?.account
  if (!view || account === undefined) {
    throw new AppError("config-invalid", "No mail account is configured (hooks.gmail.account)", { hint: setupHint })
  }
  if (options.account !== undefined && options.account.toLowerCase() !== account.toLowerCase()) {
    throw new AppError("bad-request", `The configured account is ${account}`, { hint: setupHint })
  }
  return { ...view, account }
}

function transportOf(context: Context, about: { account: string; project: string }): Transport {
  if (!context.options.dryRun) return fetch
  return createDryTransport(about, (call) => show(context, call))
}

function show(context: Context, call: PrintedCall): void {
  const safe = { ...call, url: withoutToken(call.url) }
  context.calls.push(safe)
  if (context.options.json) return
  const body = safe.body === undefined ? "" : ` ${JSON.stringify(safe.body)}`
  context.io.stdout(`${context.redactor.redact(`${safe.method} ${safe.url}${body}`)}\n`)
}

/** Reads what is there (as if signed in when nobody is), and writes nothing. */
function withoutWrites({ files, view }: Context): GmailFiles {
  const nothing = () => undefined
  const stored = files.credentials.read()
  let credentials: GmailCredentials = {
    account: view?.account ?? "",
    clientId: stored?.clientId ?? "client-id",
    refreshToken: "dry-run-refresh",
  }
  return {
    credentials: {
      ...files.credentials,
      read: () => credentials,
      write: (value) => void (credentials = value),
      remove: nothing,
    },
    push: { ...files.push, write: nothing, remove: nothing },
    watch: { ...files.watch, write: nothing, remove: nothing },
    isStopped: files.isStopped,
    setStopped: nothing,
  }
}

const secretKeys = new Set(["token", "pushToken"])

function writeConfigKey(context: Context, key: string[], value: Json): void {
  const { configPath: path, io, options, variables } = context
  if (options.dryRun) {
    const hidden = JSON.stringify(value, (name, inner: Json) => (secretKeys.has(name) ? "***" : inner))
    const text = secretKeys.has(key.at(-1) ?? "") ? '"***"' : hidden
    io.stderr(`would set ${key.join(".")} = ${text}\n`)
    return
  }
  const result = setConfigValue({ path, env: variables, key, value })
  if (result.kind === "ok") return
  const [issue] = result.issues
  throw new AppError("config-write-refused", `${key.join(".")} cannot be set: ${issue?.message ?? ""}`)
}

interface Outcome {
  reply: object
  lines: string[]
}

async function perform(
  io: GmailCommandIo,
  options: CommonOptions,
  work: (context: Context) => Promise<Outcome>,
): Promise<void> {
  const redactor = createRedactor()
  try {
    const context = openContext(io, options, redactor)
    const { reply, lines } = await work(context)
    const dry = options.dryRun ? { dryRun: true, calls: context.calls } : {}
    if (options.json) io.stdout(`${redactor.redact(JSON.stringify({ ok: true, ...reply, ...dry }))}\n`)
    else for (const line of lines) io.stdout(`${redactor.redact(line)}\n`)
  } catch (error) {
    // Ctrl-C is no failure, whatever it has cut off.
    if (io.signal.aborted) throw new AppError("aborted", "Stopped", { cause: error })
    const app = toKnownError(error)
    if (app?.code === "aborted") throw app
    if (!app) throw error
    if (options.json) io.stdout(`${redactor.redact(JSON.stringify(toErrorBody(app)))}\n`)
    else io.stderr(`error: ${redactor.redact(app.message)}\n${app.hint === undefined ? "" : `hint: ${app.hint}\n`}`)
    io.exit(1)
  }
}

function toKnownError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  return error instanceof GoogleError ? new AppError("platform-refused", error.message, { cause: error }) : undefined
}

function openContext(io: GmailCommandIo, options: CommonOptions, redactor: Redactor): Context {
  const environment = readEnvironment(io.env)
  const { config, secrets, source } = loadConfigOrThrow({ path: environment.configPath, env: environment.variables })
  for (const secret of secrets) redactor.add(secret)
  const hooks = source["hooks"]
  return {
    io,
    options,
    stateFolder: environment.stateFolder,
    configPath: environment.configPath,
    config,
    view: config.hooks.gmail,
    hasGmail: isJsonObject(hooks) && hooks["gmail"] !== undefined,
    variables: environment.variables,
    files: gmailFiles(environment.stateFolder),
    roots: { ...googleRoots, ...io.apiRoots },
    clock: systemClock,
    redactor,
    calls: [],
  }
}
