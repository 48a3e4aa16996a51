// What the command line does without a gateway: who would be heard, by the configuration file alone. Loaded only then.
import { loadConfigOrThrow, readEnvironment } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import { explainAccess } from "./chatapp/explain.ts"
import { channelName, createSettings } from "./chatapp/settings.ts"
import type { AccessExplanation, AccessQuestion } from "./contract.ts"

/** Throws AppError: `channel-unknown`, `config-invalid`, or what is wrong with the question. */
export function explainFromFile(
  variables: Readonly<Record<string, string | undefined>>,
  channel: string,
  question: AccessQuestion,
): AccessExplanation {
  if (channel !== channelName) {
    throw new AppError("channel-unknown", `There is no channel named ${JSON.stringify(channel)}`)
  }
  const { configPath } = readEnvironment(variables)
  const { config } = loadConfigOrThrow({ path: configPath, env: variables })
  return explainAccess(question, { config: () => config, settings: createSettings(() => config) })
}
