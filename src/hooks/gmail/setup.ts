// `svc webhooks gmail setup`: sign in to the mailbox -> (sign in to the cloud project -> topic, subscription) -> first
// registration -> files -> configuration. Every step can be repeated; the configuration is written last.
import { AppError, type Clock, type Ids, type Json, type Redactor } from "../../kernel/index.ts"
import type { AccountTokens } from "./account-tokens.ts"
import { prepareCloud } from "./cloud.ts"
import type { GoogleRoots } from "./contract.ts"
import type { GmailCredentials, GmailFiles } from "./files.ts"
import type { GoogleCaller } from "./google-call.ts"
import { createMailbox } from "./mailbox.ts"
import { type OAuthClient, cloudScope, mailScope } from "./oauth.ts"
import { signIn } from "./sign-in.ts"

export interface SetupWishes {
  account: string
  project: string
  /** `projects/<project>/topics/<topic>` */
  topic: string
  subscription: string
  label: string
  /** Public https address of the receiver, without the token. */
  pushEndpoint: string
  /** Name of the service account that signs pushes, or its whole address. */
  serviceAccount: string
  pushToken: string
  /** False when topic and subscription were made by hand. */
  cloud: boolean
  /** More keys of `hooks.gmail`, such as `serve`. */
  settings: Record<string, Json>
}

export interface SetupOptions {
  wishes: SetupWishes
  client: OAuthClient
  files: GmailFiles
  caller: GoogleCaller
  roots: GoogleRoots
  clock: Clock
  ids: Ids
  redactor: Redactor
  /** Writes one key of the configuration; throws when it cannot. */
  setConfig: (key: string[], value: Json) => void
  /** What is configured already. */
  hooks: { token?: string | undefined; presets: readonly string[]; hasGmail: boolean }
  show: (address: string, purpose: string) => void
  paste?: ((question: string) => Promise<string>) | undefined
  progress: (step: string) => void
  signal?: AbortSignal | undefined
}

export interface SetupResult {
  account: string
  topic: string
  subscription: string
  serviceAccount: string
  watchExpiresAt: string
}

const hookTokenBytes = 24

export async function setUpGmail(options: SetupOptions): Promise<SetupResult> {
  const { files, wishes } = options
  options.progress("sign in to the mailbox")
  const credentials = await signInToMailbox(options)
  // Checked before anything of the present set-up is replaced.
  const mailbox = createMailbox({ ...options, tokens: fixedToken(credentials.accessToken as string) })
  const profile = await mailbox.profile(options.signal)
  if (profile.emailAddress.toLowerCase() !== wishes.account.toLowerCase()) {
    throw new AppError("forbidden", `You signed in as ${profile.emailAddress}, not as ${wishes.account}`, {
      hint: "Choose the right account in the browser, or give the other with --account",
    })
  }
  const labelId = await mailbox.labelId(wishes.label, options.signal)
  const serviceAccount = wishes.cloud ? await setUpCloud(options) : wholeAddress(wishes)
  options.progress("register the watch")
  const { expiresAt, historyId } = await mailbox.watch({ topic: wishes.topic, labelId }, options.signal)
  options.progress("write credentials and configuration")
  files.credentials.write(credentials)
  files.push.write({ endpoint: wishes.pushEndpoint, audience: wishes.pushEndpoint, serviceAccount })
  keepPlace(options, historyId, expiresAt)
  files.setStopped(false)
  writeConfig(options)
  return {
    account: wishes.account,
    topic: wishes.topic,
    subscription: wishes.subscription,
    serviceAccount,
    watchExpiresAt: new Date(expiresAt).toISOString(),
  }
}

async function signInToMailbox(options: SetupOptions): Promise<GmailCredentials> {
  const { account } = options.wishes
  const tokens = await signIn({
    ...options,
    scope: mailScope,
    offline: true,
    account,
    show: (address) => options.show(address, `the mailbox ${account}`),
  })
  if (tokens.refreshToken === undefined) {
    throw new AppError("platform-refused", "Google gave no lasting sign-in", {
      hint: "Remove the app at https://myaccount.google.com/permissions and begin again",
    })
  }
  const { accessToken, expiresAt, refreshToken } = tokens
  return { account, ...options.client, accessToken, expiresAt, refreshToken }
}

/** The project may belong to another account than the mailbox, and its rights are far wider: they are not kept. */
async function setUpCloud(options: SetupOptions): Promise<string> {
  const { wishes } = options
  options.progress("sign in to the cloud project")
  const { accessToken } = await signIn({
    ...options,
    scope: cloudScope,
    offline: false,
    show: (address) => options.show(address, `the cloud project ${wishes.project}`),
  })
  return await prepareCloud({
    ...options,
    accessToken,
    project: wishes.project,
    topic: wishes.topic,
    subscription: wishes.subscription,
    serviceAccountName: wishes.serviceAccount,
    pushEndpoint: `${wishes.pushEndpoint}?token=${encodeURIComponent(wishes.pushToken)}`,
    audience: wishes.pushEndpoint,
  })
}

function wholeAddress({ project, serviceAccount }: SetupWishes): string {
  return serviceAccount.includes("@") ? serviceAccount : `${serviceAccount}@${project}.iam.gserviceaccount.com`
}

/** Set up again, the reading goes on where it was; only another mailbox or label begins anew. */
function keepPlace({ clock, files, wishes }: SetupOptions, historyId: string, watchExpiresAt: number): void {
  const { account, label } = wishes
  const known = files.watch.read()
  const same = known?.account === account && known.label === label
  const record = same ? known : { account, label, historyId, waiting: [], recent: [], delivered: 0 }
  files.watch.write({ ...record, watchExpiresAt, renewedAt: clock.now() })
}

/** `enabled` last: it is valid only with a token, and nothing is half switched on when a write fails. */
function writeConfig({ hooks, ids, setConfig, wishes }: SetupOptions): void {
  const { account, label, pushToken, settings, subscription, topic } = wishes
  const values = { account, label, topic, subscription, pushToken, ...settings }
  // Key by key where the section exists, so that the person's comments, placeholders and other keys in it stay.
  if (!hooks.hasGmail) setConfig(["hooks", "gmail"], values)
  else for (const [name, value] of Object.entries(values)) setConfig(["hooks", "gmail", name], value)
  if (!hooks.presets.includes("gmail")) setConfig(["hooks", "presets"], [...hooks.presets, "gmail"])
  if (hooks.token === undefined) setConfig(["hooks", "token"], ids.token(hookTokenBytes))
  setConfig(["hooks", "enabled"], true)
}

/** The token of a sign-in that is not stored yet. */
function fixedToken(accessToken: string): AccountTokens {
  return { accessToken: async () => accessToken, withToken: (work) => work(accessToken) }
}
