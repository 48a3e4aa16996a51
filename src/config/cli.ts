// `svc config ...`: the commands and their help. What they do is loaded when one runs, so that the schema costs no other
// command anything.
import type { Command } from "commander"
import type { ConfigSnapshot } from "./load.ts"
import type { ConfigPath } from "./path.ts"

export interface ConfigCommandIo {
  stdout(text: string): void
  stderr(text: string): void
  env: Readonly<Record<string, string | undefined>>
  exit(code: number): void
  /** What is allowed and may still not work as it was meant. Other features know that; unset: nothing is looked for. */
  findWarnings?(snapshot: ConfigSnapshot): Promise<ConfigWarning[]>
}

export interface ConfigWarning {
  path: ConfigPath
  message: string
}

interface CommonOptions {
  json?: boolean
  stateDir?: string
}

const stateHelp = "state folder (default: $SVC_STATE_DIR, else ~/.svc)"
const keyHelp = 'key such as channels.chatapp.dmPolicy or groups["-100.1"].enabled'

export function registerConfigCommands(program: Command, io: ConfigCommandIo): void {
  const config = program.command("config").description("Read, change and check the configuration file")
  const load = () => import("./cli-actions.ts")
  /** The same with the state folder that the command line names. */
  const at = ({ stateDir }: CommonOptions): ConfigCommandIo =>
    stateDir === undefined ? io : { ...io, env: { ...io.env, SVC_STATE_DIR: stateDir } }

  config
    .command("get")
    .argument("[key]", keyHelp)
    .description("Print the configuration in use, or one key of it, with defaults; secrets are masked")
    .option("--reveal", "print secrets as they are")
    .option("--json", "print JSON")
    .option("--state-dir <dir>", stateHelp)
    .addHelpText("after", "\nExample:\n  svc config get gateway.port\n")
    .action(async (key: string | undefined, options: CommonOptions & { reveal?: boolean }) => {
      const { getConfigValue } = await load()
      getConfigValue(at(options), { key, reveal: options.reveal === true, json: options.json === true })
    })

  config
    .command("set")
    .argument("<key>", keyHelp)
    .argument("<value>", "JSON5 value; anything else is taken as text")
    .description("Change one key in the file; comments and placeholders stay")
    .option("--json", "print JSON")
    .option("--state-dir <dir>", stateHelp)
    .addHelpText("after", "\nExample:\n  svc config set channels.chatapp.dmPolicy allowlist\n")
    .action(async (key: string, value: string, options: CommonOptions) => {
      const { setConfigFromText } = await load()
      await setConfigFromText(at(options), { key, value, json: options.json === true })
    })

  config
    .command("unset")
    .argument("<key>", keyHelp)
    .description("Remove one key from the file, and the sections that become empty")
    .option("--json", "print JSON")
    .option("--state-dir <dir>", stateHelp)
    .addHelpText("after", "\nExample:\n  svc config unset messages.responsePrefix\n")
    .action(async (key: string, options: CommonOptions) => {
      const { unsetConfigKey } = await load()
      unsetConfigKey(at(options), { key, json: options.json === true })
    })

  config
    .command("validate")
    .description("Check the file; every error is named with key, value and line, and models that may not work")
    .option("--json", "print JSON")
    .option("--state-dir <dir>", stateHelp)
    .addHelpText("after", "\nExample:\n  svc config validate\n")
    .action(async (options: CommonOptions) => {
      const { validateConfigFile } = await load()
      await validateConfigFile(at(options), { json: options.json === true })
    })

  config
    .command("schema")
    .description("Print the JSON schema of the file, for editors")
    .option("--json", "print JSON (it always does)")
    .addHelpText("after", "\nExample:\n  svc config schema > svc.schema.json\n")
    .action(async () => {
      const { printConfigSchema } = await load()
      printConfigSchema(io)
    })

  config
    .command("path")
    .description("Print where the file is")
    .option("--json", "print JSON")
    .option("--state-dir <dir>", stateHelp)
    .addHelpText("after", "\nExample:\n  svc config path\n")
    .action(async (options: CommonOptions) => {
      const { printConfigPath } = await load()
      printConfigPath(at(options), { json: options.json === true })
    })
}
