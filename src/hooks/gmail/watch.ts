// The mail watch of one account while it runs: listener for pushes, registration with Gmail and its renewal, and a loop
// that reads the mailbox whenever a push, the clock or a start says so. One reading at a time.
import { type Listener, listen } from "../../kernel/http/index.ts"
import {
  AppError,
  type Background,
  type Clock,
  type Log,
  type Redactor,
  backoffMs,
  createBackground,
  describeError,
} from "../../kernel/index.ts"
import type { Verifier } from "../verify/index.ts"
import { createAccountTokens } from "./account-tokens.ts"
import {
  type GmailBatch,
  type GmailState,
  type GmailStatus,
  type GmailView,
  type GoogleRoots,
  googleRoots,
} from "./contract.ts"
import { type GmailFiles, type WatchRecord, gmailFiles } from "./files.ts"
import { type Transport, createGoogleCaller } from "./google-call.ts"
import { type Mailbox, createMailbox } from "./mailbox.ts"
import { type Receiver, createReceiver } from "./receiver.ts"
import { describeRecord } from "./status.ts"
import { syncMailbox } from "./sync.ts"
import { type RunTailscale, openTunnel, tunnelOf } from "./tunnel.ts"

export interface GmailWatchOptions {
  /** Asked at each start. */
  config: () => GmailView | undefined
  stateFolder: string
  /** Of the push listener, at once. */
  maxConnections?: number
  clock: Clock
  log: Log
  redactor: Redactor
  /** Hands a batch to the mapping `gmail`. Durable when it resolves; a batch that rejects is handed on again. */
  deliver: (batch: GmailBatch, signal: AbortSignal) => Promise<void>
  verifier: Verifier
  /** Other addresses than Google's, for tests. */
  apiRoots?: Partial<GoogleRoots>
  transport?: Transport
  /** Needed where `tailscale` is configured. */
  tailscale?: RunTailscale
}

export interface GmailWatch {
  /** Resolves when pushes can arrive. Rejects with `config-invalid` (not set up) or `port-in-use`. */
  start(): Promise<void>
  stop(): Promise<void>
  status(): GmailStatus
  /** What the listener answers with, for those who have a listener of their own. 503 while not started. */
  receiver: Receiver
}

/** Pushes get lost at times; Gmail asks receivers to look by themselves as well. */
const catchUpMs = 15 * 60_000
const failurePolicy = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 5_000, maxDelayMs: 5 * 60_000, jitter: 0.2 }

/** One start of the watch. */
interface Run {
  view: GmailView & { account: string; topic: string }
  record: WatchRecord
  mailbox: Mailbox
  receiver: Receiver
  abort: AbortController
  background: Background
  listener?: Listener
  labelId?: string
  /** The public address, once the tunnel is open. */
  tunnel?: string
  wake: PromiseWithResolvers<void>
  state: GmailState
  lastPushAt?: number
  lastError?: string
  failures: number
}

export function createGmailWatch(options: GmailWatchOptions): GmailWatch {
  const files = gmailFiles(options.stateFolder)
  let run: Run | undefined
  let idle: GmailState = "off"
  return {
    async start() {
      if (run) return
      const view = options.config()
      idle = view?.account === undefined ? "off" : "stopped"
      if (view?.account === undefined || files.isStopped()) return
      const started = prepareRun(options, files, view)
      run = started
      try {
        started.listener = await openListener(view, started.receiver, options.maxConnections)
      } catch (error) {
        run = undefined
        throw error
      }
      options.log.info({ account: view.account, label: view.label, port: started.listener.port }, "gmail watch started")
      started.background.run("gmail watch", () => work(options, files, started))
    },
    async stop() {
      const stopping = run
      run = undefined
      if (!stopping) return
      stopping.abort.abort(new AppError("aborted", "The mail watch stops"))
      await stopping.listener?.stop()
      await stopping.background.idle()
    },
    status() {
      if (!run) return { state: idle }
      const { bind, path } = run.view.serve
      return {
        ...describeRecord(run.record),
        state: run.state,
        account: run.view.account,
        label: run.view.label,
        topic: run.view.topic,
        listening: { bind, path, port: run.listener?.port ?? run.view.serve.port },
        ...(run.tunnel === undefined ? {} : { tunnel: run.tunnel }),
        ...(run.lastPushAt === undefined ? {} : { lastPushAt: new Date(run.lastPushAt).toISOString() }),
        ...(run.lastError === undefined ? {} : { lastError: run.lastError }),
      }
    },
    receiver: async (request, address) =>
      run ? await run.receiver(request, address) : new Response(null, { status: 503, headers: { "retry-after": "5" } }),
  }
}

function prepareRun(options: GmailWatchOptions, files: GmailFiles, view: GmailView): Run {
  const { account, topic } = view
  const push = files.push.read()
  if (account === undefined || topic === undefined || !push) {
    throw new AppError("config-invalid", "The mail watch is not set up (hooks.gmail.topic, gmail/push.json)", {
      hint: "Run: svc webhooks gmail setup --account <address>",
    })
  }
  if (view.pushToken !== undefined) options.redactor.add(view.pushToken)
  const roots = { ...googleRoots, ...options.apiRoots }
  const caller = createGoogleCaller({ clock: options.clock, transport: options.transport ?? fetch })
  const tokens = createAccountTokens({ ...options, files, caller, roots })
  const run: Run = {
    view: { ...view, account, topic },
    record: loadRecord(files, account, view.label),
    mailbox: createMailbox({ caller, tokens, roots }),
    receiver: createReceiver({
      ...options,
      view,
      push,
      queue: (historyId) => queuePush(options, files, run, historyId),
    }),
    abort: new AbortController(),
    background: createBackground(options.log),
    wake: Promise.withResolvers(),
    state: "starting",
    failures: 0,
  }
  return run
}

/** The place in one mailbox says nothing about another. */
function loadRecord(files: GmailFiles, account: string, label: string): WatchRecord {
  const known = files.watch.read()
  if (known?.account === account && known.label === label) return known
  return { account, label, waiting: [], recent: [], delivered: 0 }
}

async function openListener(
  view: GmailView,
  receiver: Receiver,
  maxConnections: number | undefined,
): Promise<Listener> {
  return await listen({
    host: view.serve.bind,
    port: view.serve.port,
    maxConnections,
    purpose: "the Gmail push listener (hooks.gmail.serve.port)",
    fetch: (request, environment) => receiver(request, peerOf(environment)),
  })
}

function peerOf(environment: unknown): string | undefined {
  return (environment as { incoming?: { socket?: { remoteAddress?: string } } }).incoming?.socket?.remoteAddress
}

function queuePush(options: GmailWatchOptions, files: GmailFiles, run: Run, historyId: string): void {
  run.lastPushAt = options.clock.now()
  const { record } = run
  if (BigInt(historyId) > BigInt(record.pushedHistoryId ?? "0")) {
    record.pushedHistoryId = historyId
    files.watch.write(record)
  }
  // Read already, by an earlier push or by the clock.
  if (record.historyId !== undefined && BigInt(historyId) <= BigInt(record.historyId)) return
  run.wake.resolve()
}

async function work(options: GmailWatchOptions, files: GmailFiles, run: Run): Promise<void> {
  const { signal } = run.abort
  while (!signal.aborted) {
    run.wake = Promise.withResolvers()
    const problems = files.isStopped() ? [] : await readOn(options, files, run)
    if (signal.aborted) return
    run.state = files.isStopped() ? "stopped" : judge(problems)
    run.failures = problems.length === 0 ? 0 : run.failures + 1
    run.lastError = problems.map(describeError).join("; ")
    if (problems.length === 0) delete run.lastError
    for (const err of problems) options.log.error({ err, failures: run.failures }, "gmail watch failing")
    await pause(options, run, problems.length > 0)
  }
}

/** Tunnel, registration and reading fail independently: a watch that cannot be renewed is good for days yet. */
async function readOn(options: GmailWatchOptions, files: GmailFiles, run: Run): Promise<unknown[]> {
  const { record, mailbox, view } = run
  const { signal } = run.abort
  const save = () => files.watch.write(record)
  const problems: unknown[] = []
  const attempt = async (step: () => Promise<void>) => {
    try {
      await step()
    } catch (error) {
      if (!signal.aborted) problems.push(error)
    }
  }
  await attempt(() => ensureTunnel(options, run))
  await attempt(async () => {
    run.labelId ??= await mailbox.labelId(view.label, signal)
    if (options.clock.now() >= renewalDue(run)) await register(options, run, run.labelId, save)
  })
  if (!signal.aborted && run.labelId !== undefined) {
    const { labelId } = run
    await attempt(() => syncMailbox({ ...options, view, mailbox, record, save }, labelId, signal))
  }
  return problems
}

/** Once a start: the daemon keeps it from then on. */
async function ensureTunnel(options: GmailWatchOptions, run: Run): Promise<void> {
  const tunnel = tunnelOf({
    ...run.view,
    serve: { ...run.view.serve, port: run.listener?.port ?? run.view.serve.port },
  })
  if (!tunnel || !options.tailscale || run.tunnel !== undefined) return
  run.tunnel = await openTunnel(tunnel, options.tailscale, run.abort.signal)
  options.log.info({ mode: tunnel.mode, address: run.tunnel, target: tunnel.target }, "gmail tunnel open")
}

async function register(options: GmailWatchOptions, run: Run, labelId: string, save: () => void): Promise<void> {
  const answer = await run.mailbox.watch({ topic: run.view.topic, labelId }, run.abort.signal)
  const { record } = run
  // What came before the first registration is no news.
  record.historyId ??= answer.historyId
  record.watchExpiresAt = answer.expiresAt
  record.renewedAt = options.clock.now()
  save()
  options.log.info({ expiresAt: new Date(answer.expiresAt).toISOString() }, "gmail watch registered")
}

function renewalDue({ record, view }: Run): number {
  if (record.renewedAt === undefined) return 0
  return Math.min(record.renewedAt + view.renewEveryMinutes * 60_000, record.watchExpiresAt ?? 0)
}

function judge(problems: readonly unknown[]): GmailState {
  if (problems.length === 0) return "watching"
  const signedOut = problems.some((error) => error instanceof AppError && error.code === "unauthorized")
  return signedOut ? "signed-out" : "failing"
}

async function pause({ clock }: GmailWatchOptions, run: Run, failed: boolean): Promise<void> {
  const untilRenewal = Math.max(1_000, renewalDue(run) - clock.now())
  const ms = failed ? backoffMs(failurePolicy, Math.min(run.failures, 16)) : Math.min(catchUpMs, untilRenewal)
  const over = new AbortController()
  const signal = AbortSignal.any([run.abort.signal, over.signal])
  try {
    // After a failure a push does not shorten the wait: many pushes would become many failures.
    await Promise.race([clock.sleep(ms, signal), ...(failed ? [] : [run.wake.promise])])
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    over.abort()
  }
}
