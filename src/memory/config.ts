// The keys of `memory.*`: what the agent writes down, what it may look for, and when a long conversation is summed up.
import { z } from "zod"

export const memorySchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({
      description:
        "MEMORY.md in the prompt, the tools `memory_search` and `memory_write`, and the notes that are written before a summary.",
    }),
    promptChars: z.int().min(0).max(100_000).default(8_000).meta({
      description:
        "Characters of MEMORY.md that stand in the prompt, within `agents.defaults.workspacePrompt`; the rest is found by `memory_search`.",
    }),
    sessions: z.enum(["own", "agent"]).default("own").meta({
      description:
        "Which conversations `memory_search` looks through in private chats: the one that it is asked in, or all of the agent's, also those of other people. Groups and guests have their own alone.",
    }),
    maxFileKb: z.int().min(1).max(1024).default(64).meta({
      description: "Size of one note up to which the agent writes into it.",
    }),
    flush: z.boolean().default(true).meta({
      description:
        "Before a conversation is summed up, the model is asked once, silently, to write down what is to last.",
    }),
    autoCompact: z.boolean().default(true).meta({
      description: "Sums a conversation up by itself when it fills what the model is shown of the past.",
    }),
    compactAt: z.number().min(0.3).max(0.95).default(0.8).meta({
      description: "How full that is then, as a share.",
    }),
  })
  .prefault({})
  .meta({ description: "What the agent remembers: notes in its workspace, and its conversations." })

export type MemoryConfig = z.infer<typeof memorySchema>
