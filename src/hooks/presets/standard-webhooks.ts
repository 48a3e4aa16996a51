// Any sender that follows the Standard Webhooks form: `{type, timestamp, data}`.
import type { Preset } from "./preset.ts"

export const standardWebhooks: Preset = {
  name: "standard-webhooks",
  scheme: "standard-webhooks",
  title: "{{type}}",
  sessionKey:
    'hook:standard-webhooks:{{data.id | default(headers.webhook-id) | default(headers.svix-id) | default("all") | hash}}',
  idFrom: "headers.webhook-id",
  otherwise:
    '{{type | default("Event")}}{{timestamp | before(" at ")}}\n\n{{data | default(payload) | json | truncate(8000)}}',
}
