// The keys of `models.*`: providers, their keys and addresses, and what is known of their models.
import { z } from "zod"

const modelEntry = z
  .strictObject({
    contextTokens: z.int().min(1).optional().meta({
      description: "Tokens that fit into one request, prompt and reply together.",
    }),
    vision: z.boolean().optional().meta({ description: "Whether the model takes pictures." }),
  })
  .meta({ description: "What is known of one model." })

const provider = z
  .strictObject({
    kind: z.enum(["openai", "anthropic", "openai-compatible"]).meta({
      description: "Which interface the provider speaks. `openai-compatible` needs `baseUrl`.",
    }),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ description: "Address of the interface, for example `http://127.0.0.1:11434/v1`." }),
    apiKey: z.string().min(1).optional().meta({
      description: "Key of the provider. When unset, `<PROVIDER>_API_KEY` of the environment is used.",
      secret: true,
    }),
    headers: z
      .record(z.string().min(1), z.string().meta({ description: "Value of the header.", secret: true }))
      .optional()
      .meta({ description: "Further request headers." }),
    models: z
      .record(z.string().min(1), modelEntry)
      .optional()
      .meta({ description: "Models of the provider whose facts differ from the built-in ones, by id." }),
  })
  .refine((entry) => entry.kind !== "openai-compatible" || entry.baseUrl !== undefined, {
    path: ["baseUrl"],
    error: 'is required when kind is "openai-compatible"',
  })
  .meta({ description: "One provider of models." })

export const modelsSchema = z
  .strictObject({
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, "must be lower-case letters, digits, dots and dashes"),
        provider,
      )
      .default({})
      .meta({ description: "Providers by name; the name is the first half of `provider/model`." }),
  })
  .prefault({})
  .meta({ description: "Model providers." })

export type ModelsConfig = z.infer<typeof modelsSchema>
export type ModelProviderConfig = z.infer<typeof provider>
