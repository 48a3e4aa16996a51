// GitLab: the older secret token is sent as it is in `X-Gitlab-Token` and signs nothing; the newer signing token makes
// a Standard Webhooks signature. A secret that begins with `whsec_` is a signing token and never passes as the plain one.
import { findSecret, reasons } from "../compare.ts"
import { type Scheme, type SchemeInput, type SchemeVerdict, refused } from "../contract.ts"
import { deliveryId } from "../delivery-id.ts"
import { standardWebhookHeaders, verifyStandardWebhook } from "./standard-webhooks.ts"

export const gitlab: Scheme = {
  headers: () => ["x-gitlab-token", "idempotency-key", "x-gitlab-event-uuid", ...standardWebhookHeaders],
  verify(input) {
    const bySignature =
      input.header("webhook-signature") === undefined ? refused(reasons.missing) : verifyStandardWebhook(input)
    const byToken = verifyToken(input)
    if (bySignature.kind === "valid") return bySignature
    if (byToken.kind === "valid") return byToken
    return input.header("webhook-signature") === undefined ? byToken : bySignature
  },
}

function verifyToken({ header, secrets }: SchemeInput): SchemeVerdict {
  const token = header("x-gitlab-token")
  if (!token) return refused(reasons.missing)
  const plain = secrets.filter((secret) => !secret.startsWith("whsec_"))
  const secret = findSecret(plain, [token], (candidate) => [candidate])
  if (secret === undefined) return refused("the token is wrong")
  const id = deliveryId(header("idempotency-key") ?? header("x-gitlab-event-uuid"), false)
  return { kind: "valid", secret, bodySigned: false, id }
}
