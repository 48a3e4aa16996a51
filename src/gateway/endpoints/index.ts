// All endpoints that are described by schemas, by method and path.
import type { Call } from "./endpoint.ts"
import { accessEndpoints } from "./access.ts"
import { approvalEndpoints } from "./approvals.ts"
import { backupEndpoints } from "./backups.ts"
import { chatEndpoints } from "./chat.ts"
import { configEndpoints } from "./config.ts"
import { budgetEndpoints } from "./budget.ts"
import { browserEndpoints } from "./browser.ts"
import { deliveryEndpoints } from "./deliveries.ts"
import { hookEndpoints } from "./hooks.ts"
import { logEndpoints } from "./logs.ts"
import { memoryEndpoints } from "./memory.ts"
import { nodeEndpoints } from "./nodes.ts"
import { pageEndpoints } from "./page.ts"
import { peopleEndpoints } from "./people.ts"
import { pauseEndpoints } from "./pause.ts"
import { runEndpoints } from "./runs.ts"
import { sessionEndpoints } from "./sessions.ts"
import { secretEndpoints } from "./secrets.ts"
import { skillEndpoints } from "./skills.ts"
import { scheduleEndpoints } from "./schedules.ts"
import { statusEndpoints } from "./status.ts"
import { takeoverEndpoints } from "./takeovers.ts"
import { usageEndpoints } from "./usage.ts"

export const endpoints = {
  ...statusEndpoints,
  ...scheduleEndpoints,
  ...runEndpoints,
  ...budgetEndpoints,
  ...browserEndpoints,
  ...pauseEndpoints,
  ...deliveryEndpoints,
  ...hookEndpoints,
  ...logEndpoints,
  ...peopleEndpoints,
  ...approvalEndpoints,
  ...sessionEndpoints,
  ...usageEndpoints,
  ...configEndpoints,
  ...accessEndpoints,
  ...backupEndpoints,
  ...skillEndpoints,
  ...nodeEndpoints,
  ...memoryEndpoints,
  ...pageEndpoints,
  ...chatEndpoints,
  ...secretEndpoints,
  ...takeoverEndpoints,
}

/** For clients: what each call is given and answers. */
export type Api = { [Name in keyof typeof endpoints]: Call<(typeof endpoints)[Name]> }
export type { LiveLine } from "./browser.ts"
