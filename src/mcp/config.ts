// The keys of `mcp.*`: other servers whose tools the agent may use, and which agent may use which.
import { z } from "zod"

const seconds = (most: number) => z.number().min(1).max(most)

const toolList = z.array(z.string().trim().min(1).max(200))

const server = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .meta({ description: "False: none of its tools are there, and it is not started." }),
    command: z.string().trim().min(1).optional().meta({
      description: "Program that speaks MCP on its standard input and output. Either this or `url`.",
      defaultText: "none",
    }),
    args: z.array(z.string()).default([]).meta({ description: "Its arguments." }),
    env: z
      .record(z.string().min(1), z.string().meta({ description: "Value of the variable.", secret: true }))
      .default({})
      .meta({
        description:
          "Its environment, beside PATH, HOME, USER, SHELL, LANG, TZ and TMPDIR. It is given no other variable.",
      }),
    cwd: z.string().min(1).optional().meta({ description: "Its working folder.", defaultText: "the home folder" }),
    url: z
      .url({ protocol: /^https?$/, error: "must be an http(s) address" })
      .optional()
      .meta({
        description: "Address of a server that speaks Streamable HTTP. Either this or `command`.",
        defaultText: "none",
      }),
    headers: z
      .record(z.string().min(1), z.string().meta({ description: "Value of the header.", secret: true }))
      .default({})
      .meta({ description: "Headers of each request to `url`, such as `Authorization`." }),
    allow: z.record(z.string().trim().min(1), toolList).meta({
      description:
        'Tools by agent: `{"main": ["search", "read_*"]}`. A name may end in `*`; the agent `*` stands for those that are not named. Who is in no list has none.',
    }),
    free: toolList.default([]).meta({
      description:
        "Tools that a turn may call without asking after it has read words of others. Only what changes nothing and carries nothing out belongs here.",
    }),
    startSeconds: seconds(600)
      .default(30)
      .meta({ description: "How long its start, or the first connection, may take." }),
    timeoutSeconds: seconds(3600).default(60).meta({ description: "How long one call may take." }),
    idleMinutes: z.number().min(0.1).max(1440).default(10).meta({
      description: "It is ended when it was not used for so long, and started again by the next call.",
    }),
    maxResultChars: z.int().min(1_000).max(1_000_000).default(50_000).meta({
      description: "Characters of one result that reach the model; more is cut.",
    }),
  })
  .superRefine(({ command, url }, context) => {
    if ((command === undefined) === (url === undefined))
      context.addIssue({ code: "custom", message: "needs either command or url" })
  })

export const mcpSchema = z
  .strictObject({
    servers: z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, "must be lower-case letters, digits and hyphens"), server)
      .default({})
      .meta({ description: "MCP servers by name. Their tools are called `mcp_<server>_<tool>`." }),
    firstWaitSeconds: z.number().min(0).max(300).default(5).meta({
      description:
        "How long turns wait for a server that is being read for the first time, from the beginning of that on; after it they go on without its tools.",
    }),
    maxTools: z.int().min(1).max(200).default(40).meta({
      description: "Tools of all servers that one turn is offered; each takes room in the model's context.",
    }),
  })
  .prefault({})
  .meta({ description: "Tools of other programs, by the Model Context Protocol." })

export type McpConfig = z.infer<typeof mcpSchema>
export type McpServerConfig = z.infer<typeof server>
