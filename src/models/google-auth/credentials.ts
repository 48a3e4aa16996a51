// Files with credentials of Google's cloud: the key of a service account, or a person's sign-in that the cloud's own
// tool has written. Parsed once, with the next step in every error.
import { readFile } from "node:fs/promises"
import { z } from "zod"
import { AppError } from "../../kernel/index.ts"

const tokenUri = z.url({ protocol: /^https?$/ }).default("https://oauth2.googleapis.com/token")

const serviceAccount = z.object({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().min(1).optional(),
  project_id: z.string().min(1).optional(),
  token_uri: tokenUri,
})

const authorizedUser = z.object({
  type: z.literal("authorized_user"),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  refresh_token: z.string().min(1),
  quota_project_id: z.string().min(1).optional(),
  token_uri: tokenUri,
})

const credentials = z.discriminatedUnion("type", [serviceAccount, authorizedUser])

export type ServiceAccount = z.infer<typeof serviceAccount>
export type AuthorizedUser = z.infer<typeof authorizedUser>
export type Credentials = z.infer<typeof credentials>

/** Throws `model-key-missing`. No message repeats what stands in the file. */
export async function readCredentials(path: string): Promise<Credentials> {
  const parsed = credentials.safeParse(await readJson(path))
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map((issue) => issue.path.join(".") || "type").join(", ")
  throw new AppError("model-key-missing", `The credentials file ${path} is of no known kind (wrong: ${fields})`, {
    hint: "Use a key file of a service account, or the file that `gcloud auth application-default login` writes.",
  })
}

async function readJson(path: string): Promise<unknown> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    throw new AppError("model-key-missing", `The credentials file ${path} cannot be read`, {
      cause: error,
      hint: "Check the provider's credentialsFile, or GOOGLE_APPLICATION_CREDENTIALS, and who may read the file.",
    })
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError("model-key-missing", `The credentials file ${path} is not JSON`, {
      hint: "Download the key file again, or run `gcloud auth application-default login`.",
    })
  }
}
