// What the command line does without a gateway, by the configuration file alone: who would be heard, and which tools a
// model is shown. Loaded only then.
import type { Tool, ToolPlace } from "../agent/tool.ts"
import { type ConfigSnapshot, loadConfigOrThrow, readEnvironment } from "../config/index.ts"
import { explainAccess } from "./chatapp/explain.ts"
import { channelName, createSettings } from "./chatapp/settings.ts"
import { offerTools } from "./chatapp/tool/offer.ts"
import type { Operations } from "./chatapp/tool/operations.ts"
import type { AccessExplanation, AccessQuestion } from "./contract.ts"
import { unknownChannel } from "./unknown-channel.ts"

/** Throws AppError: `channel-unknown`, `config-invalid`, or what is wrong with the question. */
export function explainFromFile(
  variables: Readonly<Record<string, string | undefined>>,
  channel: string,
  question: AccessQuestion,
): AccessExplanation {
  if (channel !== channelName) {
    throw unknownChannel(channel, [channelName])
  }
  const { configPath } = readEnvironment(variables)
  const { config } = loadConfigOrThrow({ path: configPath, env: variables, missingVariables: "leave-out" })
  return explainAccess(question, { config: () => config, settings: createSettings(() => config) })
}

/** The chat tools as a model is shown them. Nobody calls them: there is nothing behind them. */
export function shownTools({ config, environment }: ConfigSnapshot, place: ToolPlace): readonly Tool[] {
  const options = {
    operations: {} as Operations,
    settings: createSettings(() => config),
    hasEnvironmentToken: environment.chatappBotToken !== undefined,
  }
  return offerTools(options, place)
}
