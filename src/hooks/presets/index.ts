// The built-in mappings by name.
import type { HookPresetName } from "../config.ts"
import { alertmanager, grafana } from "./alerts.ts"
import { github } from "./github.ts"
import { gitlab } from "./gitlab.ts"
import { gmail } from "./gmail.ts"
import { linear } from "./linear.ts"
import type { Preset } from "./preset.ts"
import { sentry } from "./sentry.ts"
import { slack } from "./slack.ts"
import { standardWebhooks } from "./standard-webhooks.ts"
import { stripe } from "./stripe.ts"

export type { Preset } from "./preset.ts"

export const presets: Record<HookPresetName, Preset> = {
  gmail,
  github,
  gitlab,
  stripe,
  slack,
  linear,
  sentry,
  grafana,
  alertmanager,
  "standard-webhooks": standardWebhooks,
}
