// The keys of `agents.*`: defaults of every agent, and the list of agents with what each sets for itself.
import { z } from "zod"
import { durationMs } from "../kernel/duration.ts"
import { linearPatternProblem } from "../kernel/index.ts"

const defaultHeartbeatPrompt =
  "Read HEARTBEAT.md if it exists and do what it says. Do not take up old tasks from earlier talk by yourself. If nothing needs attention, reply HEARTBEAT_OK."

const timeZone = z.string().refine(isTimeZone, { error: "is not a time zone name" })
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, "must be a time of day such as 08:30")
/** Words by which an agent is called in a group. */
export const mentionPatterns = z.array(
  z
    .string()
    .min(1)
    .superRefine((pattern, context) => {
      const problem = linearPatternProblem(pattern)
      if (problem !== undefined) context.addIssue(problem)
    }),
)

const modelName = z.string().trim().min(1)

const model = z
  .union([
    modelName,
    z.strictObject({
      primary: modelName.meta({ description: "The model that is asked first." }),
      fallbacks: z.array(modelName).default([]).meta({ description: "Models that are asked in turn when it fails." }),
    }),
  ])
  .transform((value) => (typeof value === "string" ? { primary: value, fallbacks: [] } : value))

const heartbeatShape = {
  every: z
    .union([z.string(), z.number().min(0)])
    .refine((value) => durationMs(value) !== undefined, {
      error: "must be a duration such as 30m or 1h; 0 switches off",
    })
    .meta({
      description: "Time between two heartbeats, such as `30m`; a bare number counts minutes; `0` switches off.",
    }),
  prompt: z.string().min(1).meta({ description: "What the agent is told at a heartbeat." }),
  target: z.string().trim().min(1).meta({ description: "Where an alert goes: `last`, `none` or a channel." }),
  to: z.string().trim().min(1).optional().meta({ description: "Recipient in that channel." }),
  model: modelName.optional().meta({ description: "Model of heartbeats, when it is not the agent's own." }),
  ackMaxChars: z.int().min(0).meta({
    description: "Characters beside HEARTBEAT_OK up to which a reply still means that nothing needs attention.",
  }),
  includeReasoning: z
    .boolean()
    .meta({ description: "Whether the reasoning is sent before an alert, as a message of its own." }),
  activeHours: z
    .strictObject({
      start: clockTime.meta({ description: "First minute of the day, `HH:MM`." }),
      end: clockTime.meta({ description: "Minute of the day after the last, `HH:MM`; `24:00` is midnight." }),
      timezone: z
        .union([z.enum(["user", "local"]), timeZone])
        .default("user")
        .meta({ description: "`user` (agents.defaults.userTimezone), `local` (the host's) or a time zone name." }),
    })
    .optional()
    .meta({ description: "Heartbeats run only between these times." }),
  session: z
    .string()
    .trim()
    .min(1)
    .optional()
    .meta({ description: "Session in which heartbeats run, when it is not the main one." }),
}

const heartbeat = z.strictObject({
  ...heartbeatShape,
  every: heartbeatShape.every.default("30m"),
  prompt: heartbeatShape.prompt.default(defaultHeartbeatPrompt),
  target: heartbeatShape.target.default("last"),
  ackMaxChars: heartbeatShape.ackMaxChars.default(300),
  includeReasoning: heartbeatShape.includeReasoning.default(false),
})

const sandboxFields = {
  mode: z.enum(["off", "untrusted", "all"]).optional().meta({
    description:
      "Which sessions are sandboxed: none, those that act on words of people and systems without standing, or all. A mode that is set and cannot be had ends what needs it with an error.",
    defaultText: "`untrusted` where the backend works, else `off`",
  }),
  backend: z.enum(["bubblewrap", "docker"]).meta({ description: "What a sandbox is made with." }),
  tools: z.enum(["off", "trusted", "all"]).meta({
    description:
      "The tools `read`, `write`, `edit`, `list` and `exec`, which work in a sandbox: for nobody, in turns of owners and approved senders, or in every turn.",
  }),
}
const dockerFields = {
  command: z.string().trim().min(1).meta({ description: "The program: `docker`, `podman` or a path." }),
  image: z.string().trim().min(1).meta({ description: "Image with `chromium` and `node`; nothing is fetched." }),
  seccompProfile: z.string().trim().min(1).optional().meta({
    description: "File of a seccomp profile that allows user namespaces, which Chromium's own sandbox needs.",
  }),
}
const megabytes = z.int().min(64).max(1_048_576)
const tasks = z.int().min(16).max(100_000)
const sandboxBrowserFields = {
  allowHostControl: z.boolean().meta({
    description: "Lets sandboxed sessions use the browser of the host (`target=host`).",
  }),
  memoryMb: megabytes.meta({ description: "Memory that one browser in a sandbox may take." }),
  maxTasks: tasks.meta({ description: "Processes and threads of one browser in a sandbox." }),
  max: z.int().min(1).max(100).meta({
    description: "Browsers in sandboxes at once; the one used longest ago is ended for another.",
  }),
  idleMinutes: z.int().min(1).max(1440).meta({ description: "Minutes after which an unused one is ended." }),
}
const execFields = {
  network: z.boolean().meta({
    description: "Lets `exec` ask for a way to the public internet, through the strict navigation policy.",
  }),
  timeoutSeconds: z.int().min(1).max(3600).meta({ description: "Seconds that one command may take." }),
  memoryMb: megabytes.meta({ description: "Memory of one command." }),
  maxTasks: tasks.meta({ description: "Processes and threads of one command." }),
  maxOutputKb: z.int().min(1).max(1024).meta({ description: "Output of one command that the model is shown." }),
}
const dockerMeta = { description: "The backend `docker`." }
const sandboxBrowserMeta = { description: "The browser in sandboxed sessions." }
const execMeta = { description: "The tool `exec` and the chat command `/bash`." }

const sandbox = z.strictObject({
  ...sandboxFields,
  backend: sandboxFields.backend.default("bubblewrap"),
  tools: sandboxFields.tools.default("off"),
  docker: z
    .strictObject({
      ...dockerFields,
      command: dockerFields.command.default("docker"),
      image: dockerFields.image.default("svc-sandbox"),
    })
    .prefault({})
    .meta(dockerMeta),
  browser: z
    .strictObject({
      allowHostControl: sandboxBrowserFields.allowHostControl.default(false),
      memoryMb: sandboxBrowserFields.memoryMb.default(2048),
      maxTasks: sandboxBrowserFields.maxTasks.default(1024),
      max: sandboxBrowserFields.max.default(4),
      idleMinutes: sandboxBrowserFields.idleMinutes.default(10),
    })
    .prefault({})
    .meta(sandboxBrowserMeta),
  exec: z
    .strictObject({
      network: execFields.network.default(false),
      timeoutSeconds: execFields.timeoutSeconds.default(120),
      memoryMb: execFields.memoryMb.default(1024),
      maxTasks: execFields.maxTasks.default(256),
      maxOutputKb: execFields.maxOutputKb.default(32),
    })
    .prefault({})
    .meta(execMeta),
})

/** What an agent sets for itself; the rest is as for all. */
const agentSandbox = z
  .strictObject({
    ...sandboxFields,
    docker: z.strictObject(dockerFields).partial().meta(dockerMeta),
    browser: z.strictObject(sandboxBrowserFields).partial().meta(sandboxBrowserMeta),
    exec: z.strictObject(execFields).partial().meta(execMeta),
  })
  .partial()

const toolNames = z.array(z.string().trim().min(1))
const words = z.array(z.string().trim().min(1)).min(1)
const confirmRule = z
  .union([
    z.string().trim().min(1),
    z.strictObject({
      tool: z.string().trim().min(1).meta({ description: "Name of a tool; `*` stands for any letters." }),
      actions: words.optional().meta({
        description: "Actions of the tool: `send`, `navigate`, `click`, `fill`, an MCP tool's name; unset: all.",
      }),
      channels: words.optional().meta({
        description: "Channels that the turn's answer goes to; `none` for turns whose answer goes nowhere; unset: all.",
      }),
      origins: z
        .array(z.enum(["owner", "approved-sender", "group-member", "webhook", "web-page", "model", "system"]))
        .min(1)
        .optional()
        .meta({ description: "Whose words the turn acts on; unset: anybody's." }),
      sites: words.optional().meta({
        description:
          "Sites that the call has to do with: `shop.example`, or `*.shop.example` for it and those below it; unset: all.",
      }),
    }),
  ])
  .transform((rule) => (typeof rule === "string" ? ruleOf(rule) : rule))
  .meta({ description: "One rule: `tool`, `tool:action`, or an object; of each of its lists one entry has to fit." })

/** `exec`, `browser:click` */
function ruleOf(text: string): { tool: string; actions?: string[] } {
  const [tool = "", ...action] = text.split(":")
  return action.length === 0 ? { tool } : { tool, actions: [action.join(":")] }
}

const toolPolicy = (meanings: { allow: string; deny: string }) =>
  z.strictObject({
    allow: toolNames.optional().meta({ description: meanings.allow }),
    deny: toolNames.optional().meta({ description: meanings.deny }),
    confirm: z.array(confirmRule).optional().meta({
      description:
        "Calls that an owner is asked about each time: `tool`, `tool:action`, or an object. Rules of an agent and of the defaults count together.",
    }),
  })

const agentDefaults = z
  .strictObject({
    model: model.prefault("offline/commander").meta({
      description: "Model as `provider/model` or an alias; or `{primary, fallbacks}`.",
    }),
    models: z
      .record(
        z.string().regex(/^[^/\s]+\/\S+$/, "must be provider/model"),
        z.strictObject({
          alias: z.string().trim().min(1).optional().meta({ description: "Short name of the model." }),
        }),
      )
      .optional()
      .meta({ description: "Allowed models, each with an optional alias. When unset, all models are allowed." }),
    maxConcurrent: z.int().min(1).default(4).meta({
      description:
        "Turns of people that may run at once; inside one session there is always only one. Webhooks (`hooks.maxConcurrent`) and heartbeats (one) have places of their own.",
    }),
    timeoutSeconds: z.int().min(1).max(86_400).default(600).meta({ description: "Seconds that one turn may take." }),
    limits: z
      .strictObject({
        steps: z.int().min(1).max(1_000).default(60).meta({ description: "Questions to the model in one turn." }),
        toolCalls: z.int().min(1).max(10_000).default(150).meta({ description: "Tool calls of one turn." }),
        repeatedCalls: z.int().min(2).max(1_000).default(5).meta({
          description:
            "Equal calls of a tool with equal results in one turn; further ones are not made, and a turn that goes on with them is ended.",
        }),
      })
      .prefault({})
      .meta({ description: "How far one turn may go. At a limit the model is told to answer with what it has." }),
    thinkingDefault: z.enum(["off", "minimal", "low", "medium", "high"]).optional().meta({
      description: "How much the model thinks before it answers.",
      defaultText: "the model's own default",
    }),
    workspace: z.string().min(1).optional().meta({
      description: "Folder of HEARTBEAT.md and of the agents' own files.",
      defaultText: "`<state>/workspace`",
    }),
    workspacePrompt: z
      .strictObject({
        maxChars: z.int().min(0).max(1_000_000).default(20_000).meta({ description: "Characters of one file." }),
        totalChars: z.int().min(0).max(1_000_000).default(60_000).meta({ description: "Characters of all together." }),
      })
      .prefault({})
      .meta({
        description:
          "How much of the workspace's AGENTS.md, SOUL.md, TOOLS.md and (in private chats with people of standing, and heartbeats) USER.md and MEMORY.md (`memory.promptChars`) stands in the prompt. 0 switches it off.",
      }),
    userTimezone: timeZone.optional().meta({ description: "Time zone of the user.", defaultText: "the host's" }),
    envelopeTimezone: z
      .union([z.enum(["local", "utc", "user"]), timeZone])
      .default("local")
      .meta({ description: "Time zone of the times that the agent is shown." }),
    envelopeTimestamp: z
      .enum(["on", "off"])
      .default("on")
      .meta({ description: "Whether messages show their time; the day stands there always." }),
    envelopeElapsed: z.enum(["on", "off"]).default("on").meta({
      description: "Whether messages show the time since the one before.",
    }),
    heartbeat: heartbeat
      .prefault({})
      .meta({ description: "Regular turns in which the agent looks whether anything needs attention." }),
    tools: toolPolicy({
      allow:
        "Tools that turns may use, in chats, webhooks and heartbeats, by name; unset: all. A group may allow less.",
      deny: "Tools that no turn may use; `*` for all. Wins over `allow`.",
    })
      .optional()
      .meta({ description: "Tools of all agents." }),
    sandbox: sandbox.prefault({}).meta({ description: "Sandboxed sessions, and the tools that work in a sandbox." }),
  })
  .prefault({})
  .meta({ description: "What holds for every agent." })

const agentEntry = z.strictObject({
  id: z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 lower-case letters, digits, dashes and underscores")
    .meta({ description: "Id of the agent; part of its session keys." }),
  default: z.boolean().optional().meta({ description: "Marks the default agent; else it is the first of the list." }),
  name: z.string().trim().min(1).optional().meta({ description: "Name shown to people." }),
  identity: z
    .strictObject({
      name: z.string().trim().min(1).optional().meta({ description: "Name by which the agent goes." }),
      emoji: z.string().trim().min(1).optional().meta({ description: "Its emoji." }),
      theme: z.string().trim().min(1).optional().meta({ description: "Its manner, in a few words." }),
    })
    .optional()
    .meta({ description: "Who the agent is." }),
  model: model.optional().meta({ description: "As `agents.defaults.model`, for this agent." }),
  workspace: z.string().min(1).optional().meta({ description: "As `agents.defaults.workspace`, for this agent." }),
  groupChat: z
    .strictObject({
      mentionPatterns: mentionPatterns.optional().meta({
        description: "As `messages.groupChat.mentionPatterns`, for this agent.",
      }),
    })
    .optional()
    .meta({ description: "The agent in groups." }),
  heartbeat: z.strictObject(heartbeatShape).partial().optional().meta({
    description: "As `agents.defaults.heartbeat`. If any agent has one, only those that have one run heartbeats.",
  }),
  skills: z.array(z.string().min(1)).optional().meta({
    description: "Skills of the agent, by their folders in `<workspace>/skills`; when unset all, when empty none.",
  }),
  tools: toolPolicy({
    allow: "Tools that this agent may use. With `tools` of its own it takes nothing from `agents.defaults.tools`.",
    deny: "Tools that this agent may not use; `*` for all. Wins over `allow`.",
  })
    .optional()
    .meta({ description: "As `agents.defaults.tools`, for this agent." }),
  sandbox: agentSandbox.optional().meta({ description: "As `agents.defaults.sandbox`, for this agent." }),
})

export const agentsSchema = z
  .strictObject({
    defaults: agentDefaults,
    list: z
      .array(agentEntry)
      .default([])
      .refine((list) => new Set(list.map((entry) => entry.id)).size === list.length, {
        error: "has two agents with the same id",
      })
      .refine((list) => list.filter((entry) => entry.default === true).length <= 1, {
        error: "has more than one default agent",
      })
      .meta({ description: "The agents. When empty there is one, `main`." }),
  })
  .prefault({})
  .meta({ description: "Agents." })

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }) instanceof Intl.DateTimeFormat
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

export type AgentsConfig = z.infer<typeof agentsSchema>
export type AgentEntryConfig = z.infer<typeof agentEntry>
export type SandboxConfig = z.infer<typeof sandbox>
export type HeartbeatConfig = z.infer<typeof heartbeat>
