// Every route of the control service, as one list: the listener serves it, the OpenAPI document and the node's proxy read it.
import { debugRoutes } from "./debug.ts"
import { explainRoute } from "./explain.ts"
import { extensionRoutes } from "./extension.ts"
import { lifecycleRoutes } from "./lifecycle.ts"
import { openApiRoute } from "./openapi.ts"
import { pageRoutes } from "./page.ts"
import { profileRoutes } from "./profiles.ts"
import type { Route } from "./route.ts"
import { scriptRoutes } from "./scripts.ts"
import { settingRoutes } from "./settings.ts"
import { tabRoutes } from "./tabs.ts"

const featureRoutes: readonly Route[] = [
  ...lifecycleRoutes,
  ...profileRoutes,
  explainRoute,
  ...extensionRoutes,
  ...tabRoutes,
  ...pageRoutes,
  ...scriptRoutes,
  ...debugRoutes,
  ...settingRoutes,
]
/** Every route of the control service, the one that describes them included. */
export const controlRoutes: readonly Route[] = [...featureRoutes, openApiRoute(featureRoutes)]
