// `svc webhooks gmail ...`: the commands and their help. What they do is loaded when one runs. No option takes a secret:
// those come from files, the environment or a prompt.
import type { Command } from "commander"
import type { GoogleRoots } from "./contract.ts"

export interface GmailCommandIo {
  stdout(text: string): void
  stderr(text: string): void
  env: Readonly<Record<string, string | undefined>>
  exit(code: number): void
  /** Asks the person; what is typed is not shown when `hidden`. Rejects when nobody can be asked. */
  prompt(question: string, options: { hidden: boolean }): Promise<string>
  /** Ends `run`, and whatever waits. */
  signal: AbortSignal
  /** Other addresses than Google's, for tests. */
  apiRoots?: Partial<GoogleRoots>
}

export interface CommonOptions {
  account?: string
  json?: true
  dryRun?: true
}

export interface SetupFlags extends CommonOptions {
  clientFile?: string
  pushEndpoint?: string
  project?: string
  topic?: string
  subscription?: string
  label?: string
  serviceAccount?: string
  includeBody?: boolean
  maxBytes?: string
  renewMinutes?: string
  bind?: string
  port?: string
  path?: string
  tailscale?: string
  tailscalePath?: string
  tailscaleTarget?: string
  hookUrl?: string
  cloud: boolean
  paste?: true
}

export interface StopFlags extends CommonOptions {
  forget?: true
}

/** Adds `gmail` below `svc webhooks`, which is made when it is not there yet. */
export function registerGmailCommands(program: Command, io: GmailCommandIo): void {
  const webhooks =
    program.commands.find((command) => command.name() === "webhooks") ??
    program.command("webhooks").description("Set up senders of webhooks")
  const gmail = webhooks.command("gmail").description("Watch a Gmail mailbox: every new mail becomes a webhook")
  const load = () => import("./cli-actions.ts")
  const add = (name: string, description: string, example: string) =>
    gmail
      .command(name)
      .description(description)
      .option("--account <address>", "mail account (default: hooks.gmail.account)")
      .option("--dry-run", "print every HTTP call that would be made, and make none")
      .option("--json", "print JSON")
      .addHelpText("after", `\nExample:\n  ${example}`)

  const setup = add(
    "setup",
    "Sign in, set up topic and subscription, and write the configuration",
    "svc webhooks gmail setup --account me@gmail.com --client-file client.json \\\n" +
      "    --push-endpoint https://hooks.example.com/gmail-pubsub",
  )
  addSetupOptions(setup).action(async (flags: SetupFlags) => (await load()).runSetup(io, flags))

  add("run", "Run the watch in this terminal, without a gateway's own", "svc webhooks gmail run").action(
    async (flags: CommonOptions) => (await load()).runWatch(io, flags),
  )
  add("status", "Show how far the mailbox was read, and until when Gmail pushes", "svc webhooks gmail status").action(
    async (flags: CommonOptions) => (await load()).showStatus(io, flags),
  )
  add("stop", "Tell Gmail to push no more, until it is set up or run again", "svc webhooks gmail stop --forget")
    .option("--forget", "revoke the sign-in and remove what is stored")
    .action(async (flags: StopFlags) => (await load()).stopWatch(io, flags))
}

function addSetupOptions(command: Command): Command {
  return command
    .option("--client-file <path>", "OAuth client of type Desktop app, as downloaded (or env SVC_GMAIL_CLIENT_FILE)")
    .option(
      "--push-endpoint <url>",
      "public https address that leads to the push listener (default: that of --tailscale)",
    )
    .option("--project <id>", "cloud project (default: the topic's, else the OAuth client's)")
    .option("--topic <topic>", "topic, or its whole path (default: svc-gmail-watch)")
    .option("--subscription <name>", "subscription (default: hooks.gmail.subscription)")
    .option("--label <label>", "label to watch (default: INBOX)")
    .option("--service-account <name>", "account that signs the pushes (default: svc-gmail-push)")
    .option("--include-body", "hand on the text of mails")
    .option("--no-include-body", "hand on heads and excerpts only")
    .option("--max-bytes <n>", "bytes of text of a mail at most")
    .option("--renew-minutes <n>", "minutes after which the watch is renewed")
    .option("--bind <address>", "address of the push listener")
    .option("--port <n>", "port of the push listener")
    .option("--path <path>", "path of the push listener")
    .option("--tailscale <mode>", "lead a public address to the listener by Tailscale: funnel, serve or off")
    .option("--tailscale-path <path>", "path of that address (default: the listener's)")
    .option("--tailscale-target <url>", "where its requests go (default: the listener)")
    .option("--hook-url <url>", "where `run` posts mails (default: the gateway's own hook)")
    .option("--no-cloud", "topic and subscription were made by hand: do not touch the project")
    .option("--paste", "paste the browser's last address instead of listening on 127.0.0.1")
}
