// What `setup` is asked for, out of flags, configuration and defaults; and the OAuth client out of file or prompt.
import { readFileSync } from "node:fs"
import { z } from "zod"
import { AppError, type Ids, type Json } from "../../kernel/index.ts"
import type { GmailCommandIo, SetupFlags } from "./cli.ts"
import type { GmailView } from "./contract.ts"
import type { OAuthClient } from "./oauth.ts"
import type { SetupWishes } from "./setup.ts"
import { type Tunnel, tunnelOf } from "./tunnel.ts"

type Present = (GmailView & { hookUrl?: string | undefined }) | undefined

const defaultTopic = "svc-gmail-watch"
const defaultServiceAccount = "svc-gmail-push"
/** As in `hooks.gmail.serve`. */
const defaultServe = { bind: "127.0.0.1", port: 8788, path: "/gmail-pubsub" }
const pushTokenBytes = 24

/** Throws AppError `bad-request` naming the flag. */
export function readWishes(
  flags: SetupFlags,
  client: OAuthClient,
  present: Present,
  io: Pick<GmailCommandIo, "env">,
  ids: Ids,
): SetupWishes {
  const account = flags.account ?? present?.account
  if (account === undefined || !/^[^@\s]+@[^@\s]+$/.test(account)) {
    throw new AppError("bad-request", "Give the mail account with --account <address>")
  }
  const { project, topic } = readTopic(flags, client, present)
  return {
    account,
    project,
    topic,
    subscription: named("--subscription", flags.subscription ?? present?.subscription ?? "svc-gmail-watch-push"),
    label: flags.label ?? present?.label ?? "INBOX",
    pushEndpoint: readEndpoint(flags.pushEndpoint),
    serviceAccount: flags.serviceAccount ?? defaultServiceAccount,
    pushToken: io.env["SVC_GMAIL_PUSH_TOKEN"] ?? present?.pushToken ?? ids.token(pushTokenBytes),
    cloud: flags.cloud,
    settings: readSettings(flags, present),
  }
}

function readTopic(flags: SetupFlags, client: OAuthClient, present: GmailView | undefined) {
  const wanted = flags.topic ?? present?.topic ?? defaultTopic
  const path = /^projects\/([^/]+)\/topics\/([^/]+)$/.exec(wanted)
  // The number before the dash is that of the project in which the client was made.
  const ofClient = /^(\d+)-/.exec(client.clientId)?.[1]
  const project = flags.project ?? path?.[1] ?? ofClient
  if (project === undefined || !/^[a-z0-9:.-]+$/.test(project)) {
    throw new AppError("bad-request", "Give the cloud project with --project <id>")
  }
  if (path && path[1] !== project) throw new AppError("bad-request", "--topic is in another project than --project")
  return { project, topic: `projects/${project}/topics/${named("--topic", path?.[2] ?? wanted)}` }
}

/** Google's rule for names of topics and subscriptions. */
function named(flag: string, name: string): string {
  if (/^[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/.test(name) && !name.startsWith("goog")) return name
  throw new AppError("bad-request", `${flag} must be a name of 3 to 255 characters that begins with a letter`)
}

/** Google pushes over TLS only, and the token is ours to add. */
function readEndpoint(text: string | undefined): string {
  const hint = "The address must lead to the push listener (127.0.0.1:8788/gmail-pubsub), through a proxy or a tunnel"
  if (text === undefined)
    throw new AppError("bad-request", "Give the public address with --push-endpoint <url>, or --tailscale funnel", {
      hint,
    })
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === "https:" && url.search === "" && url.hash === "" && url.username === "") return url.href
  throw new AppError("bad-request", "--push-endpoint must be an https address without a query", { hint })
}

function readSettings(flags: SetupFlags, present: GmailView | undefined): Record<string, Json> {
  const settings: Record<string, Json> = {}
  if (flags.includeBody !== undefined) settings["includeBody"] = flags.includeBody
  if (flags.maxBytes !== undefined) settings["maxBytes"] = whole("--max-bytes", flags.maxBytes)
  if (flags.renewMinutes !== undefined) settings["renewEveryMinutes"] = whole("--renew-minutes", flags.renewMinutes)
  if (flags.hookUrl !== undefined) settings["hookUrl"] = flags.hookUrl
  const { bind, path, port, tailscale, tailscalePath, tailscaleTarget } = flags
  if (tailscale !== undefined || tailscalePath !== undefined || tailscaleTarget !== undefined) {
    settings["tailscale"] = { ...readTailscale(flags, present) }
  }
  if (bind !== undefined || path !== undefined || port !== undefined) settings["serve"] = readServe(flags, present)
  return settings
}

function readServe({ bind, path, port }: SetupFlags, present: Present): GmailView["serve"] {
  return {
    ...(present?.serve ?? defaultServe),
    ...(bind === undefined ? {} : { bind }),
    ...(port === undefined ? {} : { port: whole("--port", port) }),
    ...(path === undefined ? {} : { path }),
  }
}

type Tailscale = { mode: "off" | "serve" | "funnel"; path?: string; target?: string }

function readTailscale(flags: SetupFlags, present: Present): Tailscale {
  const { tailscale = present?.tailscale?.mode ?? "off", tailscalePath, tailscaleTarget } = flags
  if (tailscale !== "off" && tailscale !== "serve" && tailscale !== "funnel") {
    throw new AppError("bad-request", "--tailscale must be funnel, serve or off")
  }
  if (tailscalePath !== undefined && !/^\/[\w./~-]*$/.test(tailscalePath)) {
    throw new AppError("bad-request", "--tailscale-path must begin with / and hold letters, digits and . / ~ _ - only")
  }
  if (tailscaleTarget !== undefined && !/^https?(?:\+insecure)?:\/\/\S+$/.test(tailscaleTarget)) {
    throw new AppError(
      "bad-request",
      "--tailscale-target must be an address such as http://127.0.0.1:8788/gmail-pubsub",
    )
  }
  const path = tailscalePath ?? present?.tailscale?.path
  const target = tailscaleTarget ?? present?.tailscale?.target
  return {
    mode: tailscale,
    ...(path === undefined ? {} : { path }),
    ...(target === undefined ? {} : { target }),
  }
}

/** The tunnel that the flags and the configuration wish for. Throws `bad-request` naming the flag. */
export function readTunnel(flags: SetupFlags, present: Present): Tunnel | undefined {
  return tunnelOf({ serve: readServe(flags, present), tailscale: readTailscale(flags, present) })
}

function whole(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new AppError("bad-request", `${flag} must be a whole number above 0`)
}

const clientSchema = z.object({ client_id: z.string().min(1), client_secret: z.string().min(1).optional() })
const clientFileSchema = z.union([
  z.object({ installed: clientSchema }).transform(({ installed }) => installed),
  clientSchema,
])

/** From the file that Google's console gives, else from a prompt. Never from the command line. */
export async function readClient(
  io: GmailCommandIo,
  flags: SetupFlags,
  known: OAuthClient | undefined,
): Promise<OAuthClient> {
  const file = flags.clientFile ?? io.env["SVC_GMAIL_CLIENT_FILE"]
  if (file !== undefined) return readClientFile(file)
  if (known) return known
  const clientId = (await io.prompt("OAuth client id: ", { hidden: false })).trim()
  const clientSecret = (await io.prompt("OAuth client secret: ", { hidden: true })).trim()
  if (clientId === "") throw new AppError("bad-request", "An OAuth client is needed: --client-file <path>")
  return { clientId, ...(clientSecret === "" ? {} : { clientSecret }) }
}

const clientFileHint =
  'Make an OAuth client of type "Desktop app" at https://console.cloud.google.com/apis/credentials, download its JSON, and give its path: --client-file <path>'

function readClientFile(file: string): OAuthClient {
  let parsed: z.infer<typeof clientFileSchema> | undefined
  try {
    parsed = clientFileSchema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data
  } catch (error) {
    // The parser's message would quote the file, which holds a secret; the system's names only the path.
    const why = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message
    throw new AppError("bad-request", `${file} cannot be read: ${why}`, { hint: clientFileHint })
  }
  if (parsed) return { clientId: parsed.client_id, clientSecret: parsed.client_secret }
  throw new AppError("bad-request", `${file} is not an OAuth client of type "Desktop app"`, { hint: clientFileHint })
}
