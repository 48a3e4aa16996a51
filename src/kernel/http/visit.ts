// Who a request comes from, once a secret was shown, and what a surface tells of the request for the audit log. Surfaces
// are given the check as a function; none of them knows where secrets are kept.
import type { IncomingMessage } from "node:http"

/** Somebody or something that acts. Carries no secret. */
export interface Visitor {
  /**
   * `gateway-token`, `cli` (the same token, in the command line's hand), `token` (one with scopes), `page` (a
   * browser that has signed in to the page), `hook-token`, `signature`, `person` (in a chat), `stranger` (an address without a right secret), `file` (whoever edits the
   * configuration), `gateway` (by itself).
   */
  kind:
    | "gateway-token"
    | "cli"
    | "token"
    | "page"
    | "hook-token"
    | "signature"
    | "person"
    | "stranger"
    | "file"
    | "gateway"
  /** Of the token or the person, or the address; empty where there is only one. */
  id: string
  /** As people know it; may change, the id does not. */
  name: string
}

/** One request of somebody who may make it. */
export interface Visit {
  readonly visitor: Visitor
  /** What the secret opens, in the words of `gateway/access`. */
  readonly scopes: readonly string[]
  /** What it is about: a name or an id, never contents. A route may say it better than its path does. */
  target: string
  /** Whether what opened the door opens it still; for answers that go on for long. */
  holds(): boolean
  /** Tells once how it ended. */
  end(status: number): void
}

/**
 * Throws `unauthorized`, `too-many-failures` or `scope-missing`. `path` is the one that is meant, where the request
 * line names it differently.
 */
export type Admit = (request: IncomingMessage, path?: string) => Visit
