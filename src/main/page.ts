// The page with what it needs of the rest: its settings, its files, where the gateway listens.
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { webTopics } from "../channels/index.ts"
import { type GatewayToken, type PageParts, createPage } from "../gateway/index.ts"
import type { FailureThrottle } from "../kernel/http/index.ts"
import type { Core } from "./core.ts"
import { version } from "./version.ts"

export interface PageLinksOptions {
  token: GatewayToken
  throttle: FailureThrottle
  /** Where the gateway really listens. */
  port: () => number
}

export function composePage(core: Core, { token, throttle, port }: PageLinksOptions): PageParts {
  const { gateway } = core.config()
  return createPage({
    ...core,
    settings: () => core.config().gateway.page,
    sessionDays: () => core.config().gateway.page.sessionDays,
    place: () => ({ bind: gateway.bind, port: port() }),
    folder: pageFolder,
    ownIssuer: `own:${createHash("sha256").update(`page ${token.token.reveal()}`).digest("hex").slice(0, 16)}`,
    throttle,
    topics: webTopics(core.store),
    log: core.log.child({ part: "page" }),
    version: version(),
  })
}

/** Beside the bundle or above its chunks; from the sources, in `dist`. */
function pageFolder(): string | undefined {
  const places = ["./dashboard", "../dashboard", "../../dist/dashboard"]
  return places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((folder) => existsSync(`${folder}/index.html`))
}
