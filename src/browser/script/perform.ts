// Act `run`, for both faces: parse -> choose the tab -> do the steps -> what came of it, with what the page shows now.
import { AppError } from "../../kernel/index.ts"
import type { Caller } from "../caller.ts"
import type {
  ActReply,
  AriaReply,
  FreshSnapshot,
  NavigateReply,
  PageReply,
  RunReply,
  SnapshotReply,
  TabInfo,
} from "../contract.ts"
import {
  type ActRequest,
  type DialogRequest,
  type NavigateRequest,
  type RunRequest,
  type SnapshotRequest,
  parseAct,
  parseRequest,
  snapshotRequest,
} from "../requests/index.ts"
import type { LookReply, LookRequest } from "./elements.ts"
import { parseScript } from "./form.ts"
import { type Deed, type Hands, runScript } from "./run.ts"

/** What scripts need of a browser, wherever that is. */
export interface ScriptCore {
  act(caller: Caller, request: ActRequest): Promise<ActReply>
  navigate(caller: Caller, request: NavigateRequest): Promise<NavigateReply>
  answerDialog(caller: Caller, request: DialogRequest): Promise<PageReply>
  look(caller: Caller, request: LookRequest): Promise<LookReply>
  snapshot(caller: Caller, request: SnapshotRequest): Promise<SnapshotReply | AriaReply>
  tabs(caller: Caller): Promise<{ tabs: TabInfo[] }>
}

/** Each step is what the call of its own would be. */
export function plainHands(core: ScriptCore, caller: Caller, targetId: string): Hands {
  return {
    act: async (fields) => deedOf(await core.act(caller, parseAct({ ...fields, targetId }))),
    navigate: async (url) => deedOf(await core.navigate(caller, { url, targetId, timeoutMs: 20_000 })),
    answer: async (answer) => deedOf(await core.answerDialog(caller, { ...answer, targetId, timeoutMs: 120_000 })),
    look: (request) => core.look(caller, { ...request, targetId }),
  }
}

export function deedOf(reply: { url: string } & Partial<Deed>): Deed {
  const { url, dialog, closed, result, note } = reply
  return { url, dialog, closed, result, note }
}

export async function performScript(
  core: ScriptCore,
  request: RunRequest,
  caller: Caller,
  handsFor: (caller: Caller, targetId: string) => Hands,
): Promise<RunReply> {
  const script = parseScript(request.steps, Object.keys(request.values))
  const start = await core.look(caller, { targetId: request.targetId, wanted: undefined, ...justLook })
  const { targetId } = start
  const { stopped, done, values, notes } = await runScript(
    script,
    (signal) => handsFor({ ...caller, signal }, targetId),
    { values: request.values, records: false, timeoutMs: request.timeoutMs, signal: caller.signal },
  )
  return {
    ok: true,
    ...(await endOf(core, caller, targetId, request.snapshot)),
    done,
    values,
    ...(stopped ? { stopped } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  }
}

const justLook = { acts: false, waitMs: 0, locators: false }

/** Where the tab is now and what it shows; the steps have been done by now, so no trouble with this ends in an error. */
async function endOf(
  core: ScriptCore,
  caller: Caller,
  targetId: string,
  wanted: "diff" | "efficient",
): Promise<{ targetId: string; url: string; title: string } & FreshSnapshot> {
  try {
    const request = parseRequest(snapshotRequest, { targetId, mode: "efficient", diff: wanted === "diff" })
    const reply = await core.snapshot(caller, request)
    const { url, title } = reply
    return {
      targetId,
      url,
      title,
      ...("snapshot" in reply ? { snapshot: reply.snapshot, truncated: reply.truncated } : {}),
    }
  } catch (error) {
    if (!(error instanceof AppError) || caller.signal?.aborted) throw error
    const { tabs } = await core.tabs(caller)
    const tab = tabs.find((each) => each.targetId === targetId)
    return {
      targetId,
      url: tab?.url ?? "",
      title: tab?.title ?? "",
      snapshot: tab ? `(no snapshot: ${error.message})` : "(the tab is closed)",
      truncated: false,
    }
  }
}
