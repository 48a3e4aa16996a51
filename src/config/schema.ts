// The whole configuration: the features' schemas put together, and the few keys that belong to no feature.
// The schema is made once, when this module is first imported.
import { z } from "zod"
import { secretWeakness } from "../kernel/secret.ts"
import { agentsSchema } from "../agent/config.ts"
import { backupSchema } from "../backup/config.ts"
import { approvalsSchema } from "../approvals/config.ts"
import { budgetSchema } from "../budget/config.ts"
import { browserSchema, nodeHostSchema } from "../browser/config.ts"
import { chatappSchema } from "../channels/chatapp/config.ts"
import { webSchema } from "../channels/web/config.ts"
import { bindingsSchema, channelDefaultsSchema, commandsSchema } from "../channels/config.ts"
import { cronSchema } from "../schedules/config.ts"
import { deliverySchema, messagesSchema } from "../delivery/config.ts"
import { gatewaySchema, isLoopbackBind } from "../gateway/config.ts"
import { hooksSchema } from "../hooks/config.ts"
import { mcpSchema } from "../mcp/config.ts"
import { memorySchema } from "../memory/config.ts"
import { modelsSchema } from "../models/config.ts"
import { sessionSchema } from "../sessions/config.ts"
import { storageSchema } from "../store/config.ts"

const level = z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])

const loggingSchema = z
  .strictObject({
    level: level.default("info").meta({ description: "Least level that goes into the log files." }),
    consoleLevel: level.default("info").meta({ description: "Least level that is shown on the console." }),
  })
  .prefault({})
  .meta({ description: "Logs. Secrets are always taken out." })

const environmentValue = z.string().meta({ description: "Value of the variable.", secret: true })

const envSchema = z
  .object({
    vars: z.record(z.string().min(1), environmentValue).optional().meta({ description: "Variables by name." }),
    shellEnv: z
      .strictObject({
        enabled: z.boolean().default(false).meta({
          description: "Takes variables that are not set from the login shell, which is asked once, at the start.",
        }),
        timeoutMs: z
          .int()
          .min(0)
          .max(120_000)
          .default(15_000)
          .meta({ description: "Milliseconds to wait for the shell; 0 is the default." }),
      })
      .optional()
      .meta({ description: "Variables of the login shell (`$SHELL -l`)." }),
  })
  .catchall(environmentValue)
  .optional()
  .meta({ description: "Variables for `${NAME}` and for model keys; the real environment wins over them." })

export const configSchema = z
  .strictObject({
    $schema: z.string().optional().meta({ description: "Address of the JSON schema, for editors." }),
    env: envSchema,
    meta: z
      .strictObject({
        lastTouchedVersion: z.string().optional().meta({ description: "Accepted for older files; not used." }),
        lastTouchedAt: z.string().optional().meta({ description: "Accepted for older files; not used." }),
      })
      .optional()
      .meta({ description: "Accepted for older files; not used." }),
    logging: loggingSchema,
    gateway: gatewaySchema,
    storage: storageSchema,
    backup: backupSchema,
    session: sessionSchema,
    models: modelsSchema,
    agents: agentsSchema,
    bindings: bindingsSchema,
    budget: budgetSchema,
    approvals: approvalsSchema,
    memory: memorySchema,
    messages: messagesSchema,
    delivery: deliverySchema,
    commands: commandsSchema,
    channels: z
      .strictObject({
        defaults: channelDefaultsSchema,
        chatapp: chatappSchema.prefault({}),
        web: webSchema,
      })
      .prefault({})
      .meta({ description: "Chat channels." }),
    cron: cronSchema,
    hooks: hooksSchema,
    mcp: mcpSchema,
    browser: browserSchema,
    nodeHost: nodeHostSchema,
  })
  .superRefine(({ agents, bindings }, context) => {
    const known = agents.list.length === 0 ? ["main"] : agents.list.map(({ id }) => id)
    for (const [index, { agentId }] of bindings.entries()) {
      if (known.includes(agentId)) continue
      const message = `there is no agent ${JSON.stringify(agentId)}; agents.list has ${known.join(", ")}`
      context.addIssue({ code: "custom", path: ["bindings", index, "agentId"], message })
    }
  })
  .superRefine((config, context) => {
    const { token } = config.hooks
    const weakness = config.hooks.enabled && token !== undefined ? secretWeakness(token) : undefined
    if (weakness !== undefined && !isLoopbackBind(config.gateway.bind)) {
      const message = `${weakness}, and gateway.bind lets other machines try it; make one with: openssl rand -hex 24`
      context.addIssue({ code: "custom", path: ["hooks", "token"], message })
    }
  })
  .superRefine((config, context) => {
    // Without the spaces at its ends, as callers send it.
    const token = config.hooks.token?.trim()
    if (token === undefined) return
    if (token === config.gateway.auth.token?.trim()) {
      const message = "hooks.token and gateway.auth.token must be two different secrets"
      context.addIssue({ code: "custom", path: ["hooks", "token"], message })
    }
    for (const [index, { callbackSecret }] of config.hooks.mappings.entries()) {
      if (callbackSecret?.trim() !== token) continue
      const message = "must not be hooks.token: whoever gets the result could post hooks with it"
      context.addIssue({ code: "custom", path: ["hooks", "mappings", index, "callbackSecret"], message })
    }
  })

export type Config = z.infer<typeof configSchema>
