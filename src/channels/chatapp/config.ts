// The keys of `channels.chatapp.*`. An account may override every key but `accounts`; `resolveChatappAccount` in
// src/config gives one account's settings with all defaults applied, so nobody else looks at two places.
import { trimBoth } from "../../kernel/index.ts"
import { z } from "zod"

/** The platform's own address; another one is a server of somebody's own, or the emulator. */
export const platformRoot = "https://api.telegram.org"

const id = z.union([z.string().trim().min(1), z.int()]).transform(String)
const allowList = z.array(id)
const dmPolicy = z.enum(["pairing", "allowlist", "open", "disabled"])
const groupPolicy = z.enum(["open", "allowlist", "disabled"])
const commandSwitch = z
  .union([z.enum(["auto", "on", "off"]), z.boolean()])
  .transform((value) => (typeof value === "boolean" ? (value ? "on" : "off") : value))
const historyLimit = z.int().min(0)
const characters = z.int().min(1)
const delayMs = z.int().min(0).max(3_600_000)

const topicShape = {
  requireMention: z
    .boolean()
    .optional()
    .meta({ description: "Whether the agent answers only when mentioned.", defaultText: "true" }),
  skills: z.array(z.string().min(1)).optional().meta({ description: "Skills; when unset all, when empty none." }),
  allowFrom: allowList
    .optional()
    .meta({ description: "Senders that may write here; replaces `groupAllowFrom`. An empty list lets in nobody." }),
  systemPrompt: z.string().optional().meta({
    description:
      "Added to the agent's instructions here; a topic's comes after its group's. Of each message it may name `{{MessageThreadId}}`, `{{IsForum}}`, and `{{Sticker.emoji}}`, `setName`, `fileId`, `fileUniqueId`, `cachedDescription`.",
  }),
  enabled: z.boolean().optional().meta({ description: "False switches it off.", defaultText: "true" }),
}
const toolPolicy = z.strictObject({
  allow: z.array(z.string().min(1)).optional().meta({ description: "Tools that may be used, by name; unset: all." }),
  deny: z
    .array(z.string().min(1))
    .optional()
    .meta({ description: "Tools that may not be used; `*` for all. Wins over `allow`." }),
})
const group = z.strictObject({
  ...topicShape,
  tools: toolPolicy.optional().meta({ description: "Tools that turns of this group may use." }),
  toolsBySender: z
    .record(z.string().min(1), toolPolicy)
    .optional()
    .meta({ description: "The same for single senders by id, instead of `tools`; `*` stands for all others." }),
  topics: z
    .record(z.string().regex(/^\d+$/, "must be a thread id"), z.strictObject(topicShape))
    .optional()
    .meta({ description: "Topics by thread id (1 is the general one); each key wins over the group's." }),
})

const inlineButtons = z.enum(["off", "dm", "group", "all", "allowlist"])
const capabilities = z
  .union([
    z.strictObject({
      inlineButtons: inlineButtons
        .optional()
        .meta({ description: "Where buttons may be used.", defaultText: "`allowlist`" }),
    }),
    z.array(z.string()),
  ])
  .transform((value): { inlineButtons?: z.infer<typeof inlineButtons> | undefined } => {
    // What an account leaves out is as the channel says.
    if (!Array.isArray(value)) return value
    const listed = value.some((name) => name.toLowerCase() === "inlinebuttons")
    return { inlineButtons: listed ? "all" : "off" }
  })

interface CustomCommand {
  command: string
  description: string
  /** Why the entry is left out; the others are used. */
  problem?: string
}

/** A menu is no reason to refuse a file: what is wrong with an entry is told, and the entry left out. */
const customCommand = z
  .strictObject({
    command: z
      .string()
      .trim()
      .overwrite((text) => text.replace(/^\//, "").toLowerCase())
      .meta({ description: "Name of the command: 1 to 32 letters, digits and underscores. Others are left out." }),
    description: z.string().trim().meta({ description: "What the menu says about it, 1 to 256 characters." }),
  })
  .transform((entry): CustomCommand => entry)
  .catch(({ input, issues }) => ({ command: nameOfEntry(input), description: "", problem: problemOfEntry(issues) }))

const customCommands = z
  .array(customCommand)
  .catch(() => [{ command: "", description: "", problem: "it must be a list of `{command, description}`" }])

function nameOfEntry(entry: unknown): string {
  const name = entry !== null && typeof entry === "object" ? (entry as { command?: unknown }).command : entry
  return typeof name === "string" ? name.slice(0, 40) : ""
}

function problemOfEntry([issue]: readonly z.core.$ZodRawIssue[]): string {
  if (issue?.code === "unrecognized_keys")
    return `it has a key that there is not: ${issue.keys.join(", ").slice(0, 80)}`
  const key = issue?.path?.join(".") ?? ""
  return key === "" ? "it must be `{command, description}`" : `its ${key} must be a text`
}

const webhookPath = z
  .string()
  .trim()
  .overwrite((text) => `/${trimBoth(text, "/")}`)

function isDecodable(url: string): boolean {
  try {
    const { username, password } = new URL(url)
    decodeURIComponent(username + password)
    return true
  } catch (error) {
    if (error instanceof URIError || error instanceof TypeError) return false
    throw error
  }
}

const secret = z.string().trim().min(1)

/** Every key that an account may set too, without defaults: an account that is silent must not hide the channel's. */
const overridable = {
  enabled: z.boolean().meta({ description: "Whether it is started." }),
  name: z.string().trim().min(1).optional().meta({ description: "Name shown to people." }),
  botToken: secret.optional().meta({ description: "Token of the bot.", secret: true }),
  tokenFile: z
    .string()
    .trim()
    .min(1)
    .optional()
    .meta({ description: "File from which the token is read; wins over `botToken`." }),
  dmPolicy: dmPolicy.meta({
    description:
      "Who may write directly: people who were paired, people of `allowFrom`, everybody (`open`, needs `*` in `allowFrom`), or nobody.",
  }),
  allowFrom: allowList.meta({ description: "People who may write directly: numeric user ids (best) or @names." }),
  groupPolicy: groupPolicy.optional().meta({
    description: "Whose messages count in groups: everybody's, those of `groupAllowFrom`, or nobody's.",
    defaultText: "`channels.defaults.groupPolicy`, else `allowlist`",
  }),
  groupAllowFrom: allowList.optional().meta({
    description:
      "People whose messages count in groups: numeric ids (best) or @names. `allowFrom` and pairing let nobody in here.",
  }),
  groups: z.record(z.string().trim().min(1), group).optional().meta({
    description:
      "Groups by chat id, or `*` for all. When any is listed, only these are answered; each takes from `*` what it does not set. Channels need their own id.",
  }),
  capabilities: capabilities
    .optional()
    .meta({ description: 'What the bot may use. The older form `["inlineButtons"]` means `all`.' }),
  replyToMode: z
    .enum(["off", "first", "all"])
    .meta({ description: "Which parts of an answer refer to the message they answer." }),
  textChunkLimit: characters.meta({ description: "Characters of one message at most; the platform takes 4096." }),
  chunkMode: z.enum(["length", "newline"]).meta({
    description:
      "`length` fills messages and cuts where it reads best; `newline` makes a message of every paragraph first.",
  }),
  markdown: z
    .strictObject({
      tables: z.enum(["off", "bullets", "code"]).optional().meta({
        description: "How tables are shown: aligned lines, a bullet a row, or as written.",
        defaultText: "`code`",
      }),
    })
    .optional()
    .meta({ description: "How markdown is shown." }),
  linkPreview: z.boolean().meta({ description: "Whether links show a preview." }),
  streamMode: z
    .enum(["off", "partial", "block"])
    .meta({ description: "Whether an answer is shown while it is written." }),
  draftIn: z
    .enum(["topics", "private"])
    .meta({ description: "Where drafts are shown: private chats with topics, or all private chats." }),
  draftChunk: z
    .strictObject({
      minChars: characters.optional().meta({ description: "Characters at least.", defaultText: "200" }),
      maxChars: characters.optional().meta({ description: "Characters at most.", defaultText: "800" }),
      breakPreference: z.enum(["paragraph", "newline", "sentence"]).optional().meta({
        description: "What a piece waits for, to end there; a full one ends at another break.",
        defaultText: "`paragraph`",
      }),
    })
    .optional()
    .meta({ description: "Pieces of a draft in mode `block`." }),
  blockStreaming: z.boolean().meta({ description: "Sends finished parts as messages of their own instead of drafts." }),
  blockStreamingCoalesce: z
    .strictObject({
      minChars: characters.optional().meta({ description: "Characters at least.", defaultText: "800" }),
      maxChars: characters.optional().meta({ description: "Characters at most.", defaultText: "1200" }),
      idleMs: delayMs
        .optional()
        .meta({ description: "Milliseconds without text after which a part is sent.", defaultText: "1000" }),
    })
    .optional()
    .meta({ description: "How parts are joined." }),
  mediaMaxMb: z.number().positive().meta({ description: "Megabytes of one file at most, in and out." }),
  localFileRoots: z.array(z.string().trim().min(1)).optional().meta({
    description:
      "Folders of a local Bot API server, whose files are read where they lie; files elsewhere are left out.",
    defaultText: "none",
  }),
  timeoutSeconds: z.int().min(1).max(86_400).meta({
    description:
      "Seconds that one request to the platform may take at most. Those without a file end after 60 s, uploads a second later for each 50 KB.",
  }),
  historyLimit: historyLimit.optional().meta({
    description: "Messages of a group that are shown as context; 0 disables.",
    defaultText: "`messages.groupChat.historyLimit`, else 50",
  }),
  dmHistoryLimit: historyLimit
    .optional()
    .meta({ description: "User turns of a direct chat that the model is shown.", defaultText: "all that fit" }),
  dms: z
    .record(
      z.string().min(1),
      z.strictObject({
        historyLimit: historyLimit.optional().meta({ description: "As `dmHistoryLimit`, for this user." }),
      }),
    )
    .optional()
    .meta({ description: "Direct chats by user id." }),
  retry: z
    .strictObject({
      attempts: z.int().min(1).optional().meta({
        description: "Tries in all, before a message is given up.",
        defaultText: "as many as fit into six hours",
      }),
      minDelayMs: delayMs.optional().meta({ description: "Milliseconds before the second try.", defaultText: "400" }),
      maxDelayMs: delayMs
        .optional()
        .meta({ description: "Milliseconds between two tries at most.", defaultText: "30000" }),
      jitter: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .meta({ description: "Share by which a delay varies.", defaultText: "0.1" }),
    })
    .optional()
    .meta({ description: "How messages are tried again that cannot have arrived; a 429 is waited out besides." }),
  network: z
    .strictObject({
      autoSelectFamily: z
        .boolean()
        .optional()
        .meta({ description: "Whether IPv4 and IPv6 are tried side by side.", defaultText: "off on Node 22, else on" }),
    })
    .optional()
    .meta({ description: "Network settings." }),
  proxy: z
    .url({
      protocol: /^(https?|socks|socks4a?|socks5h?)$/,
      error: "must be a URL that begins with http, https, socks4, socks4a, socks5 or socks5h",
    })
    .refine(isDecodable, "has a user name or password that is not percent-encoded")
    .optional()
    .meta({
      description:
        "Proxy for everything that goes to the platform: `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h` (with `a` and `h` it looks names up). User name and password percent-encoded.",
      secret: true,
    }),
  apiRoot: z
    .url({ protocol: /^https?$/, error: "must be a URL that begins with http or https" })
    .meta({ description: "Address of the platform's API: an own or local Bot API server." }),
  webhookUrl: z
    .url({ protocol: /^https?$/, error: "must be a URL that begins with http or https" })
    .optional()
    .meta({
      description:
        "Public address of the webhook; when set, updates come by webhook. Without a path it is that of `webhookPath`; accounts that set none have their id behind it.",
      defaultText: "none: updates are polled",
    }),
  webhookSecret: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,256}$/, "must be 1 to 256 letters, digits, underscores and dashes")
    .optional()
    .meta({ description: "Secret that the platform sends along.", defaultText: "made once and kept", secret: true }),
  webhookPath: webhookPath.meta({
    description: "Path of the webhook listener; accounts that set none have their id behind it.",
  }),
  webhookBind: z
    .string()
    .regex(/^(\[[^\]]+\]|[^:\s]+):\d{1,5}$/, "must be host:port")
    .refine((bind) => Number(bind.slice(bind.lastIndexOf(":") + 1)) <= 65_535, "must have a port up to 65535")
    .meta({ description: "Address of the webhook listener, `host:port`; plain HTTP, for a proxy with TLS in front." }),
  customCommands: customCommands.optional().meta({
    description: "Further entries of the bot's menu. Using one sends its text to the agent.",
  }),
  commands: z
    .strictObject({
      native: commandSwitch.optional().meta({ description: "As `commands.native`, for this channel." }),
      nativeSkills: commandSwitch.optional().meta({ description: "As `commands.nativeSkills`, for this channel." }),
    })
    .optional()
    .meta({ description: "Commands of this channel." }),
  actions: z
    .strictObject({
      reactions: z.boolean().optional().meta({ description: "The agent may react.", defaultText: "true" }),
      sendMessage: z.boolean().optional().meta({ description: "The agent may send.", defaultText: "true" }),
      deleteMessage: z.boolean().optional().meta({ description: "The agent may delete.", defaultText: "true" }),
      editMessage: z.boolean().optional().meta({ description: "The agent may edit.", defaultText: "true" }),
      sticker: z
        .boolean()
        .optional()
        .meta({ description: "The agent may send and search stickers.", defaultText: "false" }),
    })
    .optional()
    .meta({ description: "What the agent may do by tool." }),
  reactionNotifications: z.enum(["off", "own", "all"]).meta({
    description: "Which reactions the agent hears of: none, those to its own messages, or all.",
  }),
  reactionLevel: z
    .enum(["off", "ack", "minimal", "extensive"])
    .meta({ description: "How much the agent reacts itself: not at all (`off`, `ack`), sparingly, or freely." }),
  heartbeat: z
    .strictObject({
      showOk: z
        .boolean()
        .optional()
        .meta({ description: "Sends the acknowledgment of a heartbeat that found nothing." }),
      showAlerts: z.boolean().optional().meta({ description: "Sends what a heartbeat found." }),
      useIndicator: z.boolean().optional().meta({ description: "Shows heartbeats in the status." }),
    })
    .optional()
    .meta({ description: "As `channels.defaults.heartbeat`, for heartbeats that go here." }),
  configWrites: z
    .boolean()
    .meta({ description: "Whether the channel may change this file (`/config`, groups that move)." }),
}

const account = z.strictObject(overridable).partial()

export const chatappSchema = z
  .strictObject({
    ...overridable,
    enabled: overridable.enabled.default(true),
    dmPolicy: overridable.dmPolicy.default("pairing"),
    allowFrom: overridable.allowFrom.default([]),
    replyToMode: overridable.replyToMode.default("first"),
    textChunkLimit: overridable.textChunkLimit.default(4000),
    chunkMode: overridable.chunkMode.default("length"),
    linkPreview: overridable.linkPreview.default(true),
    streamMode: overridable.streamMode.default("partial"),
    draftIn: overridable.draftIn.default("topics"),
    blockStreaming: overridable.blockStreaming.default(false),
    mediaMaxMb: overridable.mediaMaxMb.default(5),
    timeoutSeconds: overridable.timeoutSeconds.default(500),
    apiRoot: overridable.apiRoot.default(platformRoot),
    webhookPath: overridable.webhookPath.default("/chatapp-webhook"),
    webhookBind: overridable.webhookBind.default("0.0.0.0:8787"),
    reactionNotifications: overridable.reactionNotifications.default("own"),
    reactionLevel: overridable.reactionLevel.default("minimal"),
    configWrites: overridable.configWrites.default(true),
    accounts: z
      .record(
        z
          .string()
          .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 lower-case letters, digits, dashes and underscores"),
        account,
      )
      .default({})
      .meta({ description: "Further bots by account id; each may set every key of the channel for itself." }),
  })
  .superRefine((channel, context) => {
    const checkOpen = (path: string[], policy: string | undefined, allowFrom: string[]) => {
      if (policy !== "open" || allowFrom.includes("*")) return
      context.addIssue({ code: "custom", path, message: '"open" needs allowFrom to contain "*"', input: policy })
    }
    checkOpen(["dmPolicy"], channel.dmPolicy, channel.allowFrom)
    for (const [name, entry] of Object.entries(channel.accounts)) {
      if (entry.dmPolicy === undefined && entry.allowFrom === undefined) continue
      checkOpen(
        ["accounts", name, "dmPolicy"],
        entry.dmPolicy ?? channel.dmPolicy,
        entry.allowFrom ?? channel.allowFrom,
      )
    }
  })
  .meta({ description: "The chat channel." })

export type ChatappConfig = z.infer<typeof chatappSchema>
export type ChatappAccountOverrides = z.infer<typeof account>
export type ChatappGroupConfig = z.infer<typeof group>
export type ChatappTopicConfig = NonNullable<ChatappGroupConfig["topics"]>[string]
