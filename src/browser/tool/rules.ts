// What holds for each call of the tool `browser`, and for each step of a script as for a call of its own: what a turn never
// does, what it asks about, and as whom it comes to the browser.
import type { Gated, ToolContext } from "../../agent/tool.ts"
import { AppError, isJsonObject } from "../../kernel/index.ts"
import type { Caller } from "../caller.ts"
import { actKinds, parseRun } from "../requests/index.ts"
import type { Target } from "../sandbox/target.ts"
import type { ScriptShelf } from "../script/perform.ts"
import { fillsSecret, gateOf, gateSecret, isRunningCode } from "./gate.ts"
import { type BrowserToolInput, isScript, requestOf } from "./input.ts"

export async function gateCall(
  target: Target,
  value: BrowserToolInput,
  context: ToolContext,
  scripts?: ScriptShelf,
): Promise<Gated | undefined> {
  refuseUntrusted(value, context, target)
  keepSecretsHere(value, target)
  if (isScript(value)) return await gateScript(value, context, scripts)
  const caller = callerOf(value, context, target)
  if (!context.trusted && fillsSecret(value)) return await gateSecret(target.core, value, caller)
  if (!context.tainted) return undefined
  return await gateOf(target.core, value, caller, context).catch((error: unknown) => {
    throw error instanceof AppError && error.code === "bad-request" ? sayWhere(error, value) : error
  })
}

/**
 * Each step is looked at when it is its turn. A kept script brings the sites that were named when it was kept: a turn that
 * has read words of others does not take these up by itself.
 */
async function gateScript(
  value: BrowserToolInput,
  { trusted, tainted, sites }: ToolContext,
  scripts: ScriptShelf | undefined,
): Promise<Gated | undefined> {
  const { script, keep, values } = parseRun(requestOf(value))
  if (script === undefined && keep === undefined) return undefined
  if (!trusted || !scripts) {
    throw new AppError("forbidden", "Kept scripts are the owner's: this turn may neither run nor keep them", {
      hint: "Give the steps themselves",
    })
  }
  if (script === undefined || !tainted) return undefined
  const kept = await scripts.readScript(script)
  const unnamed = kept.sites.filter((site) => !sites.has(site))
  if (unnamed.length === 0) return undefined
  const { name, start, steps } = kept
  return {
    reason: `${unnamed.join(", ")}: this turn has read words of others and may not run a kept script by itself on a site that the owner has not named (by writing its address)`,
    summary: `Run the kept script ${name} on ${kept.sites.join(", ")}`,
    action: { action: "run", script: name, start, steps, values, sites: kept.sites },
  }
}

export function keepSecretsHere(value: BrowserToolInput, { kind }: Target): void {
  if (kind !== "node" || !fillsSecret(value)) return
  throw new AppError("forbidden", "Kept secrets are not sent to the browsers of other machines", {
    hint: "Do it in the browser of the gateway's machine (target host), or ask the person to fill it in there",
  })
}

/** In a sandbox the whole browser is the session's own. */
export function callerOf(
  value: BrowserToolInput,
  { trusted, approved, sessionKey, signal }: ToolContext,
  { kind, core }: Target,
): Caller {
  const withoutSecrets = !trusted && !approved
  if (kind === "sandbox") return { profile: undefined, signal, withoutSecrets }
  const named = typeof value["profile"] === "string" ? value["profile"] : undefined
  // Who acts on words of others and names no profile is never sent to the person's own tabs.
  const profile = named ?? (trusted ? undefined : core.placeApart())
  return { profile, signal, withoutSecrets, guest: trusted ? undefined : sessionKey }
}

/** What turns never do that act for somebody who is not trusted; nobody is asked about it. */
export function refuseUntrusted(value: BrowserToolInput, { trusted }: ToolContext, { kind }: Target): void {
  if (trusted) return
  if (value.action === "upload" || value.action === "download" || isRunningCode(value)) {
    throw new AppError(
      "forbidden",
      "This turn acts on words of others: it may not run code in pages, send files or keep files",
      { hint: "Read the page with a snapshot and act by refs" },
    )
  }
  if (value.action === "stop" && kind !== "sandbox") {
    throw new AppError("forbidden", "This turn acts on words of others: it may not stop the browser", {
      hint: "Close your own tabs with the action close",
    })
  }
}

/** A fault of the input, with the action that it was found in: all of them share their fields. */
export function sayWhere(error: AppError, value: BrowserToolInput): AppError {
  const request = value.action === "act" ? requestOf(value) : undefined
  const kind =
    isJsonObject(request) && [...actKinds, "run"].some((each) => each === request["kind"]) ? ` ${request["kind"]}` : ""
  const { hint } = error
  return new AppError(error.code, `${value.action}${kind}: ${error.message}`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  })
}
