// Whether a `verify` block can be used at all. Asked when the configuration is loaded, and again before every use:
// a block that cannot be used refuses everything, it never lets anything pass.
import { isIP } from "node:net"
import { AppError } from "../../kernel/index.ts"
import type { VerifySettings } from "./contract.ts"
import { parseIdSource } from "./delivery-id.ts"
import { expectedAudience } from "./schemes/google-oidc.ts"
import { readPublicKey } from "./schemes/sendgrid.ts"
import { signingSecretProblem } from "../signing-secret.ts"

/** Secrets at once: the present one and the one before or after it. */
const maxSecrets = 2

export function secretsOf(settings: VerifySettings): readonly string[] {
  if (settings.secret === undefined) return []
  return typeof settings.secret === "string" ? [settings.secret] : settings.secret
}

/** What is wrong, as `<key> <problem>`; undefined when the settings can be used. */
export function verifySettingsProblem(settings: VerifySettings): string | undefined {
  return secretProblem(settings) ?? oidcProblem(settings) ?? placeProblem(settings)
}

/** Throws AppError `config-invalid`, as a failure of ours (500), which names the key and never a secret. */
export function requireUsable(settings: VerifySettings): void {
  const problem = verifySettingsProblem(settings)
  if (problem === undefined) return
  throw new AppError("config-invalid", `The mapping's verify.${problem}`, {
    status: 500,
    hint: "Mend it in the configuration; until then every delivery to this mapping is refused",
  })
}

function secretProblem(settings: VerifySettings): string | undefined {
  if (settings.scheme === "google-oidc") return undefined
  const secrets = secretsOf(settings)
  if (secrets.length === 0) return `secret is required for the scheme ${settings.scheme}`
  if (secrets.length > maxSecrets) return `secret may have at most ${maxSecrets} values`
  for (const secret of secrets) {
    if (secret.trim() === "") return "secret must not be empty"
    if (settings.scheme === "sendgrid" && !readPublicKey(secret)) return "secret must be SendGrid's public key"
    const base64 = settings.scheme === "standard-webhooks" || settings.scheme === "gitlab"
    const problem = base64 ? signingSecretProblem(secret) : undefined
    if (problem !== undefined) return `secret ${problem}`
  }
  return undefined
}

function oidcProblem(settings: VerifySettings): string | undefined {
  if (settings.scheme !== "google-oidc") return undefined
  if (!settings.email) return "email is required for the scheme google-oidc: the service account that sends"
  if (!expectedAudience(settings)) return "audience is required for the scheme google-oidc"
  if (settings.keySetUrl !== undefined && !isSafeUrl(settings.keySetUrl)) return "keySetUrl must be an https address"
  return undefined
}

/** Without TLS anybody on the way could put keys of their own into the set. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, protocol } = new URL(text)
  const loopback =
    hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."))
  return protocol === "https:" || (protocol === "http:" && loopback)
}

function placeProblem(settings: VerifySettings): string | undefined {
  if (settings.idFrom !== undefined && !parseIdSource(settings.idFrom)) {
    return "idFrom must be headers.<name> or payload.<path>"
  }
  if (settings.header !== undefined && !/^[A-Za-z0-9!#$%&'*+.^_|~-]+$/.test(settings.header)) {
    return "header must be the name of a header"
  }
  if (settings.publicUrl !== undefined && !URL.canParse(settings.publicUrl)) return "publicUrl must be an address"
  return undefined
}
