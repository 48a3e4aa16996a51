// The page: its files, its sign-ins, its event stream.
export type { PageFeed, Topic } from "./feed.ts"
export { type PageParts, type PagePartsOptions, createPage } from "./parts.ts"
export { pageBase } from "./surface.ts"
