// What other folders may use of the configuration. The command line uses cli.ts alone, which loads the rest when needed.
export { changedPaths, createConfigHolder, lastGoodFileName, readFirstConfig } from "./holder.ts"
export type { ConfigChange, ConfigHolder, HolderOptions } from "./holder.ts"
export { defaultAccountId, listChatappAccounts, resolveChatappAccount } from "./chatapp-account.ts"
export type { ChatappAccountConfig } from "./chatapp-account.ts"
export type { ConfigIssue } from "./document.ts"
export { parseConfigText, setConfigText, showConfigValue } from "./edit.ts"
export { changeEnvFile, editEnvText, envFilePath, secretsOf } from "./env-file.ts"
export type { EnvFile } from "./env-file.ts"
export { addVariables, configFileName, readEnvironment, resolveHome } from "./environment.ts"
export type { Environment, Variables } from "./environment.ts"
export { describeSchemaIssue, editDistance, nearestName } from "./issue-text.ts"
export { configInvalid, formatIssue, loadConfigFile, loadConfigOrThrow } from "./load.ts"
export type { ConfigSnapshot, LoadOptions, LoadResult } from "./load.ts"
export { formatConfigPath, parseConfigPath } from "./path.ts"
export type { ConfigPath } from "./path.ts"
export { isOwnersPath, isProtectedPath } from "./protected-paths.ts"
export { collectSecrets, redactConfig } from "./redact.ts"
export { findWidelyWritable } from "./rights.ts"
export { diffLines } from "./form/diff.ts"
export type { DiffLine } from "./form/diff.ts"
export { isFormPath, listFields, listSections } from "./form/fields.ts"
export type { ConfigField, ConfigSection } from "./form/fields.ts"
export { configSchema } from "./schema.ts"
export type { Config } from "./schema.ts"
export { watchConfig } from "./watch.ts"
export type { ConfigWatcher, WatchOptions } from "./watch.ts"
export {
  planConfigChanges,
  renameConfigEntries,
  setConfigValue,
  unsetConfigValue,
  writeConfigChanges,
} from "./write-back.ts"
export type { FileChange, KeyChange, WriteResult } from "./write-back.ts"
