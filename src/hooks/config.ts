// The keys of `hooks.*`: the webhook endpoints, their secret, and the mappings of foreign payloads.
import { z } from "zod"
import { AppError, trimBoth } from "../kernel/index.ts"
import { signingSecretProblem } from "./signing-secret.ts"
import { compilePath, compileTemplate } from "./template.ts"

const wakeMode = z.enum(["now", "next-heartbeat"])
const thinking = z.enum(["off", "minimal", "low", "medium", "high"])

const signingSecret = z
  .string()
  .min(1)
  .superRefine((secret, context) => {
    const problem = signingSecretProblem(secret)
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem })
  })
const template = z.string().superRefine((text, context) => check(context, () => compileTemplate(text)))
const templatePath = z.string().superRefine((text, context) => check(context, () => compilePath(text)))

function check(context: { addIssue(message: string): void }, compile: () => unknown): void {
  try {
    compile()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    context.addIssue(error.message)
  }
}

/** Textual only; links are resolved each time a module is used. Backslashes, escapes and URLs are no names of ours. */
function isModulePath(path: string): boolean {
  return /^[\w@ .-]+(?:\/[\w@ .-]+)*\.(?:js|mjs|ts)$/.test(path) && !path.split("/").some((part) => /^\.+$/.test(part))
}

export const hookPresets = [
  "gmail",
  "github",
  "gitlab",
  "stripe",
  "slack",
  "linear",
  "sentry",
  "grafana",
  "alertmanager",
  "standard-webhooks",
] as const
export type HookPresetName = (typeof hookPresets)[number]

const verifySecret = z
  .string()
  .min(1)
  .meta({ description: "Secret or public key shared with the sender.", secret: true })

/** How senders sign; the functions are in verify/. */
export const verifySchemes = [
  "standard-webhooks",
  "github",
  "gitlab",
  "stripe",
  "slack",
  "linear",
  "shopify",
  "twilio",
  "sendgrid",
  "mailgun",
  "google-oidc",
  "sentry",
  "pagerduty",
  "hmac-sha256",
] as const

const verify = z
  .strictObject({
    scheme: z.enum(verifySchemes).meta({ description: "How the sender signs." }),
    secret: z
      .union([verifySecret, z.array(verifySecret).min(1).max(2)])
      .optional()
      .meta({
        description: "Secret or public key shared with the sender; a list while a secret is being exchanged.",
        secret: true,
      }),
    header: z.string().min(1).optional().meta({ description: "Header of the signature, for `hmac-sha256`." }),
    audience: z.string().min(1).optional().meta({ description: "Expected audience, for `google-oidc`." }),
    email: z.string().min(1).optional().meta({ description: "Expected service account, for `google-oidc`." }),
    keySetUrl: z.url().optional().meta({
      description: "Address of the public keys, for `google-oidc`.",
      defaultText: "the issuer's own",
    }),
    keySetFile: z.string().min(1).optional().meta({
      description:
        "File of the public keys instead of the address, for `google-oidc`; relative to the configuration's folder.",
    }),
    publicUrl: z.url().optional().meta({
      description: "Address as the sender calls it, where a proxy changes it; needed for `twilio`, which signs it.",
    }),
    toleranceSeconds: z.int().min(1).default(300).meta({ description: "Seconds by which a signed time may differ." }),
    idFrom: templatePath
      .refine((path) => /^(?:headers|payload)[.[]/.test(path), { error: "must begin with headers. or payload." })
      .optional()
      .meta({
        description: "Where the delivery's id is, such as `payload.id` or `headers.x-delivery`.",
        defaultText: "as the scheme has it",
      }),
  })
  .refine((entry) => entry.scheme === "google-oidc" || entry.secret !== undefined, {
    path: ["secret"],
    error: "is required for this scheme",
  })

const transform = z.strictObject({
  module: z
    .string()
    .overwrite((path) => path.replace(/^\.\//, ""))
    .refine(isModulePath, {
      error: "must be a relative path below hooks.transformsDir that ends in .js, .mjs or .ts, without ..",
    })
    .meta({ description: "Module below `hooks.transformsDir`: `.js`, `.mjs` or `.ts`." }),
  export: z.string().min(1).optional().meta({
    description: "Name of the function.",
    defaultText: "the default export, else `transform`",
  }),
})

const mapping = z
  .strictObject({
    id: z.string().trim().min(1).max(100).optional().meta({
      description: "Name in logs and lists, and part of what repeats are told apart by.",
      defaultText: "the preset's name, else `mapping-<n>`",
    }),
    preset: z.enum(hookPresets).optional().meta({
      description: "Built-in mapping that gives every key that is not set here.",
    }),
    match: z
      .strictObject({
        path: z
          .string()
          .trim()
          .overwrite((text) => trimBoth(text, "/"))
          .min(1)
          .optional()
          .meta({ description: "Path below `hooks.path`; exact.", defaultText: "the preset's name" }),
        source: z.string().min(1).optional().meta({ description: "Value of `source` in the payload." }),
      })
      .optional()
      .meta({ description: "Which requests the mapping takes; all, when unset." }),
    action: z.enum(["wake", "agent"]).optional().meta({
      description: "What the mapping makes of a payload.",
      defaultText: "`agent`",
    }),
    wakeMode: wakeMode.optional().meta({ description: "When the main session is woken.", defaultText: "`now`" }),
    name: template.optional().meta({ description: "Template of the hook's name.", defaultText: "`Hook`" }),
    sessionKey: template.optional().meta({
      description: "Template of the session key; it always stays below `hook:`.",
      defaultText: "a new session",
    }),
    messageTemplate: template.optional().meta({ description: "Template of the agent's message." }),
    textTemplate: template.optional().meta({ description: "Template of the wake text." }),
    shareHistory: z.boolean().optional().meta({
      description:
        "Whether a heartbeat that this mapping causes is shown the main session's history beside the payload's words.",
      defaultText: "`hooks.shareHistory`",
    }),
    deliver: z.boolean().optional().meta({ description: "Whether the reply goes to a chat.", defaultText: "`true`" }),
    allowUnsafeExternalContent: z.boolean().default(false).meta({
      description:
        "Shows the message, or the text of a wake, without the boundary for foreign text. Only for senders that nobody else can write through.",
    }),
    channel: z.string().trim().toLowerCase().min(1).optional().meta({
      description: "`last` or a channel.",
      defaultText: "`last`",
    }),
    to: template.optional().meta({ description: "Template of the recipient." }),
    model: template.optional().meta({ description: "Template of the model." }),
    thinking: template.optional().meta({ description: "Template of the thinking level." }),
    timeoutSeconds: z.int().min(1).max(604_800).optional().meta({ description: "Seconds that the run may take." }),
    transform: transform.optional().meta({ description: "Code that makes the action out of the payload." }),
    verify: verify.optional().meta({ description: "Signature that is accepted instead of the token." }),
    hide: z.array(z.string().trim().min(1).max(100)).max(50).default([]).meta({
      description:
        "Headers and query parameters of the sender that are credentials: never kept, shown, logged or given to templates and transforms. Names that say so themselves (`key`, `sig`, `api_key`, `token`, ...) always are.",
    }),
    forEach: templatePath.optional().meta({
      description:
        "Path of a list in the payload; the action is taken for each element, which templates see as `item`.",
    }),
    dedupe: z.boolean().optional().meta({
      description: "Whether a delivery without an id of its own is known again by its body.",
      defaultText: "`true` with `verify`, else `false`",
    }),
    callbackUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        description: "Address to which the result of the run is posted, signed as Standard Webhooks.",
        secret: true,
      }),
    callbackSecret: signingSecret.optional().meta({
      description: "Secret of that signature (`whsec_...` or plain text); required with `callbackUrl`.",
      secret: true,
    }),
  })
  .refine((entry) => entry.callbackUrl === undefined || entry.callbackSecret !== undefined, {
    path: ["callbackSecret"],
    error: "is required with callbackUrl: whoever gets the result could post hooks with any other secret of yours",
  })
  .meta({ description: "One mapping." })

/** What the gateway serves itself, and would keep from the endpoints. */
const gatewayPath = /^\/(?:api|dashboard|healthz|mcp|metrics|readyz|takeover)(?:\/|$)/

const gmail = z.strictObject({
  account: z.string().min(1).optional().meta({ description: "Mail account." }),
  label: z.string().min(1).default("INBOX").meta({ description: "Label that is watched." }),
  topic: z.string().min(1).optional().meta({ description: "Topic, as `projects/<project>/topics/<topic>`." }),
  subscription: z.string().min(1).default("svc-gmail-watch-push").meta({ description: "Subscription of the topic." }),
  pushToken: z.string().min(1).optional().meta({ description: "Secret of the push requests.", secret: true }),
  hookUrl: z
    .url()
    .optional()
    .meta({ description: "Where mails are posted.", defaultText: "the gateway's own `gmail` hook" }),
  includeBody: z.boolean().default(true).meta({ description: "Whether the text of mails is included." }),
  maxBytes: z.int().min(1).default(20_000).meta({ description: "Bytes of text at most." }),
  renewEveryMinutes: z.int().min(1).default(720).meta({ description: "Minutes after which the watch is renewed." }),
  allowUnsafeExternalContent: z.boolean().default(false).meta({ description: "Takes mails for trusted text." }),
  serve: z
    .strictObject({
      bind: z.string().min(1).default("127.0.0.1").meta({ description: "Address of the push listener." }),
      port: z.int().min(1).max(65535).default(8788).meta({ description: "Port of the push listener." }),
      path: z.string().min(1).default("/gmail-pubsub").meta({ description: "Path of the push listener." }),
    })
    .prefault({})
    .meta({ description: "The push listener." }),
  tailscale: z
    .strictObject({
      mode: z.enum(["off", "serve", "funnel"]).default("off").meta({
        description: "`funnel` leads from the internet to the listener, `serve` from your tailnet alone.",
      }),
      path: z
        .string()
        .regex(/^\/[\w./~-]*$/, { error: "must begin with / and hold letters, digits and . / ~ _ - only" })
        .optional()
        .meta({ description: "Path of the public address.", defaultText: "the listener's path" }),
      target: z
        .url({ protocol: /^https?(?:\+insecure)?$/ })
        .optional()
        .meta({ description: "Where its requests go.", defaultText: "the listener" }),
    })
    .prefault({})
    .meta({ description: "A tunnel of Tailscale from a public address to the listener." }),
  model: z.string().min(1).optional().meta({
    description: "Model of the runs; where it cannot be had or is not allowed, the agent's own.",
  }),
  thinking: thinking.optional().meta({ description: "Thinking level of the runs." }),
})

export const hooksSchema = z
  .strictObject({
    enabled: z.boolean().default(false).meta({ description: "Whether the webhook endpoints are on." }),
    token: z.string().min(1).optional().meta({
      description: "Secret of the callers; required when enabled, and not the gateway's own token.",
      secret: true,
    }),
    path: z
      .string()
      .trim()
      .overwrite((text) => `/${trimBoth(text, "/")}`)
      .refine((path) => !gatewayPath.test(path), { error: "is a path of the gateway's own" })
      .refine((path) => path !== "/", { error: 'must not be "/": give the endpoints a path of their own' })
      .refine((path) => /^[\w./~-]+$/.test(path), { error: "may have letters, digits and the characters . / ~ _ -" })
      .default("/hooks")
      .meta({ description: "Base path of the endpoints." }),
    maxConcurrent: z.int().min(1).max(64).default(1).meta({
      description:
        "Runs of webhooks at once, beside the turns of people (`agents.defaults.maxConcurrent`), which never wait for them.",
    }),
    maxBodyBytes: z
      .int()
      .min(1)
      .default(262_144)
      .meta({ description: "Bytes of a request body at most; larger ones get 413." }),
    keepDays: z.int().min(1).max(3650).default(7).meta({
      description: "Days for which deliveries are kept to be looked at and replayed. Repeats are known for at least 7.",
    }),
    keepMb: z.int().min(1).max(1_048_576).default(1_024).meta({
      description: "Megabytes that kept deliveries may take together; beyond that the oldest go before their time.",
    }),
    shareHistory: z.boolean().default(false).meta({
      description:
        "Whether heartbeats that webhooks cause are shown the main session's history. Words of others then stand beside private ones.",
    }),
    keepSessionDays: z.int().min(1).max(3650).default(30).meta({
      description: "Days for which the sessions of hooks are kept, with their messages, from their last run on.",
    }),
    presets: z
      .array(z.string().min(1))
      .default([])
      .meta({ description: `Built-in mappings to enable, behind \`hooks.mappings\`: ${hookPresets.join(", ")}.` }),
    mappings: z
      .array(mapping)
      .max(1000)
      .default([])
      .meta({ description: "Mappings of foreign payloads; the first that matches is taken." }),
    transformsDir: z.string().min(1).optional().meta({
      description: "Folder of transform modules, relative to the config file.",
      defaultText: "the config file's folder",
    }),
    callbackAllowPrivate: z.boolean().default(false).meta({
      description: "Whether results may be posted to loopback, private and link-local addresses.",
    }),
    gmail: gmail.optional().meta({ description: "Mail watch; written by its set-up command." }),
  })
  .refine((hooks) => !hooks.enabled || hooks.token !== undefined, {
    path: ["token"],
    error: "is required when hooks.enabled is true",
  })
  .prefault({})
  .meta({ description: "Webhooks." })

export type HooksConfig = z.infer<typeof hooksSchema>
export type HookMappingConfig = z.infer<typeof mapping>
export type HookVerifyConfig = z.infer<typeof verify>
