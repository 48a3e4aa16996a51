// A mail watch over the stand-in of Google, signed in and set up, that collects what it hands on.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TestContext } from "node:test"
import pino from "pino"
import { pushServiceAccount, startGoogle, testAccount, testClient } from "../../../test/support/google/stand-in.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { type Clock, createRedactor, systemClock } from "../../kernel/index.ts"
import { createVerifier } from "../verify/index.ts"
import { type GmailBatch, type GmailView, createGmailWatch } from "./index.ts"
import type { RunTailscale } from "./tunnel.ts"

export const publicAddress = "https://hooks.example.com/gmail-pubsub"
export const pushToken = "push-token-of-24-characters"
export const baseView: GmailView = {
  account: testAccount,
  label: "INBOX",
  topic: "projects/123456/topics/svc-gmail-watch",
  subscription: "svc-gmail-watch-push",
  pushToken,
  includeBody: true,
  maxBytes: 20_000,
  renewEveryMinutes: 720,
  serve: { bind: "127.0.0.1", port: 0, path: "/gmail-pubsub" },
}

export interface RigOptions {
  view?: Partial<GmailView>
  clock?: Clock
  deliver?: (batch: GmailBatch) => Promise<void>
  tailscale?: RunTailscale
}

export async function rig(context: TestContext, options: RigOptions = {}) {
  const google = await startGoogle(context)
  const stateFolder = temporaryFolder()
  const store = (folder: string, name: string, value: object) => {
    mkdirSync(join(stateFolder, folder), { recursive: true })
    writeFileSync(join(stateFolder, folder, name), JSON.stringify(value), { mode: 0o600 })
  }
  const refreshToken = google.state.newRefreshToken()
  const client = { clientId: testClient.client_id, clientSecret: testClient.client_secret }
  store("credentials", "gmail.json", { account: testAccount, ...client, refreshToken })
  const push = { endpoint: publicAddress, audience: publicAddress, serviceAccount: pushServiceAccount }
  store("gmail", "push.json", { ...push, keySetUrl: google.keySetUrl })

  const lines: string[] = []
  const redactor = createRedactor()
  const heard = new Set<() => void>()
  const write = (line: string) => {
    lines.push(redactor.redact(line))
    for (const listener of heard) listener()
  }
  const log = pino({ level: "trace", base: null }, { write })
  const clock = options.clock ?? systemClock
  const batches: GmailBatch[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const deliver = async (batch: GmailBatch) => {
    await options.deliver?.(batch)
    batches.push(batch)
    for (const { count, resolve } of waiting) if (batches.length >= count) resolve()
  }
  const create = () =>
    createGmailWatch({
      config: () => ({ ...baseView, ...options.view }),
      stateFolder,
      clock,
      log,
      redactor,
      deliver,
      verifier: createVerifier({ clock, log }),
      apiRoots: google.roots,
      ...(options.tailscale ? { tailscale: options.tailscale } : {}),
    })
  const watch = create()
  context.after(() => watch.stop())
  return {
    google,
    stateFolder,
    watch,
    /** As after a restart of the process. */
    create,
    lines,
    /** Resolves when a line says so. */
    logged: (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => lines.some((line) => line.includes(text)) && resolve()
        heard.add(look)
        look()
      }),
    batches,
    messages: () => batches.flatMap((batch) => batch.payload.messages),
    /** Resolves when so many batches have been handed on. */
    delivered: (count: number) =>
      new Promise<void>((resolve) => {
        if (batches.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    endpoint: () => `http://127.0.0.1:${watch.status().listening?.port}/gmail-pubsub?token=${pushToken}`,
    refreshToken,
  }
}
