// What a conversation shows beside its messages: answers while they are written, turns that run, sends that failed.
import { signal } from "../../ui/signals.ts"
import { useEffect, useMemo } from "../../ui/hooks.ts"
import { type Reply, call } from "../../api.ts"
import { on } from "../../stream.ts"
import { wordsOf } from "../../ui/parts.tsx"
import { toast } from "../../ui/toast.tsx"
import { forget } from "./unsent.ts"

export type History = Reply<"GET /api/chat/messages">
export type Message = History["items"][number]
type Draft = History["drafts"][number]

export const pageSize = 50
/** A draft whose turn is over goes when its message comes; one that says nothing, a little later. */
const overMs = 3_000

export function useLive(chat: string) {
  const live = useMemo(() => createLive(chat), [])
  useEffect(live.listen, [])
  return live
}

export function createLive(chat: string) {
  const drafts = signal<readonly Draft[]>([])
  const failed = signal<History["unsent"]>([])
  /** For whoever does not see it. */
  const heard = signal("")
  /** How many answers with drafts are on their way, and what the stream has said of drafts since they were asked for. */
  let loading = 0
  let since: Draft[] = []

  const load = async (where: { after?: number; before?: number }) => {
    const isWhole = !where.before && !where.after
    if (isWhole) loading += 1
    try {
      const answer = await call("GET /api/chat/messages", { query: { chat, limit: pageSize, ...where } })
      if (isWhole) {
        drafts.current = answer.drafts
        failed.current = answer.unsent
        since.forEach(show)
      }
      for (const { ref } of answer.items) forget(ref)
      return answer.items.reverse()
    } finally {
      if (isWhole) loading -= 1
      if (loading === 0) since = []
    }
  }
  const reload = () => void load({}).catch((error: unknown) => toast(wordsOf(error), "bad"))
  const takeDraft = (draft: Draft) => {
    if (draft.chat !== chat) return
    if (loading > 0) since.push(draft)
    show(draft)
  }
  const show = (draft: Draft) => {
    const { runId, at } = draft
    const before = drafts.current.find((each) => each.runId === runId)
    const others = drafts.current.filter((each) => each !== before)
    const known = before?.stream === draft.stream ? before.text : ""
    if (draft.isOver) {
      if (before) drafts.current = [...others, { ...before, isOver: true }]
      setTimeout(() => drop(runId), overMs)
    } else if (at <= known.length) drafts.current = [...others, { ...draft, text: known.slice(0, at) + draft.text }]
    // What is on its way may have what is missing.
    else if (loading === 0) reload()
  }
  const drop = (runId: string) =>
    (drafts.current = drafts.current.filter((each) => each.runId !== runId || !each.isOver))
  const listen = () => {
    const ends = [
      on("draft", takeDraft),
      // What was written meanwhile is told to nobody twice.
      on("ready", reload),
      on<{ chatId: string; state: string }>("delivery", ({ chatId, state }) => {
        if (chatId === chat && (failed.current.length > 0 || /dead|uncertain/.test(state))) reload()
      }),
    ]
    return () => ends.forEach((end) => end())
  }
  /** Of the stream. */
  const accepts = ({ chat: of, ref, side, runId, text }: Message) => {
    if (of !== chat) return false
    forget(ref)
    if (side === "out") heard.current = text.slice(0, 600)
    drop(runId ?? "")
    return true
  }
  return { drafts, failed, heard, load, reload, accepts, listen }
}
