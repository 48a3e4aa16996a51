// Handing tabs to a person, with what it needs of the rest: the browser, the private chat of an owner, the turn that is told.
import { liveTimeText } from "../agent/index.ts"
import { type TurnInput, turnJob } from "../agent/turn-input.ts"
import type { BrowserService, Takeover, TakeoverWaits } from "../browser/index.ts"
import type { Channel } from "../channels/contract.ts"
import type { ChannelSender } from "../delivery/contract.ts"
import { type GatewayActions, type TakeoverDesk, linkAddresses, takeoverPage } from "../gateway/index.ts"
import { AppError, type Json, siteOf } from "../kernel/index.ts"
import type { Route, Sessions } from "../sessions/index.ts"
import type { JobHandler, NewJob, Write } from "../store/index.ts"
import {
  type TakeoverLink,
  type TakeoverRow,
  type Takeovers,
  createTakeovers,
  takeoverExpiryKind,
} from "../takeovers/index.ts"
import type { Core } from "./core.ts"
import { ownersChat } from "./owners-chat.ts"
import {
  type ClaimParts,
  claimLink,
  endLostTakeovers,
  goneCodes,
  openHands,
  sandboxProfile,
  whyGone,
} from "./takeover-claims.ts"

/** What is made later than this, or needs it itself. */
export interface TakeoverLinks {
  browser: () => BrowserService
  sessions: () => Sessions
  channels: () => ReadonlyMap<string, Channel>
  senders: () => ReadonlyMap<string, ChannelSender>
  /** Where the gateway really listens. */
  port: () => number
}

export interface TakeoverParts {
  waits: TakeoverWaits
  desk: TakeoverDesk
  actions: GatewayActions["takeovers"]
  jobs: Record<string, JobHandler>
  /** Once turns can run. */
  start(): void
}

/** What the turn takes over that is told; `sandboxed`: the tab is in the session's own browser. */
type Kept = Pick<TurnInput, "agentId" | "sessionKey" | "origin" | "trusted" | "route"> & { url: string }

const minuteMs = 60_000
const told = {
  "given-back":
    "The person has given the tab below back. They were asked to do something in it by hand: take a snapshot of it to see where it stands, and go on with what it was for. What they typed is hidden from you.",
  expired:
    "The time is over in which the tab below was to be given back, so it is yours again; what was to be done by hand may not be done. Look at it if you can go on, else say so in one short message. It can be asked for again.",
  gone: "The tab below, which a person was to take over, is gone: {why}. Say so in one short message, or open the page again and ask once more. Should the person open it again by the link, you are told when they give it back.",
}

export function composeTakeovers(core: Core, links: TakeoverLinks): TakeoverParts {
  const { store, clock, ids, log, background } = core
  const live = new Map<string, Promise<Takeover>>()
  const startedAt = clock.now()
  const timeText = liveTimeText(() => core.config().agents.defaults)
  const takeovers = createTakeovers({
    store,
    clock,
    ids,
    log: log.child({ part: "takeovers" }),
    validMs: () => core.config().browser.takeoverMinutes * minuteMs,
    tell: (write, link) => tell(core, links, write, { link, until: timeText(link.row.expires_at) }),
    resume: (write, row) => void write.addJob(resumedTurn(ids.uuid(), row, whyGone({ startedAt, timeText }, row))),
    onEnd(id) {
      const taken = live.get(id)
      live.delete(id)
      if (taken) background.run("give a tab back", async () => (await taken).end())
    },
  })
  /** Before the turn begins that is told: the tab is the agent's again by then. */
  const release = async (id: string) => {
    const taking = live.get(id)
    live.delete(id)
    await (await taking)?.end()
  }
  const hands = (row: TakeoverRow) => takeTab({ core, links, live, takeovers }, row)
  const claims: ClaimParts = { takeovers, hands, release, startedAt, timeText, log, browser: links.browser }
  return {
    waits: {
      async ask(context, { profile, targetId, url, reason }) {
        if (!core.config().gateway.page.enabled) throw new AppError("conflict", "The gateway's page is switched off")
        const { agentId, sessionKey, origin, trusted, route, runId } = context
        const kept: Kept = { agentId, sessionKey, origin, trusted, route, url }
        const turn = { runId, sessionKey, resume: kept as unknown as Json }
        const asked = await takeovers.ask({ turn, profile, targetId, reason })
        return { until: timeText(asked.row.expires_at), told: asked.told }
      },
    },
    desk: {
      async claim(token, again, key) {
        return await claimLink(claims, { token, again, key })
      },
      async find(key) {
        return await openHands(claims, key)
      },
      async giveBack(id) {
        await release(id)
        await takeovers.end(id, "given-back")
      },
    },
    actions: takeoverActions(links, takeovers, release),
    start: () => background.run("look for tabs that were to be taken over", () => endLostTakeovers(claims)),
    jobs: {
      [takeoverExpiryKind]: {
        async run(job) {
          await release((JSON.parse(job.payload) as { id: string }).id)
          return await takeovers.expire(job)
        },
      },
    },
  }
}

/** The tab in the person's hands; taken anew after a restart. Throws `tab-not-found` and ends the wait where it is gone. */
async function takeTab(
  {
    core,
    links,
    live,
    takeovers,
  }: { core: Core; links: TakeoverLinks; live: Map<string, Promise<Takeover>>; takeovers: Takeovers },
  row: TakeoverRow,
): Promise<Takeover> {
  const { id, profile, target_id: targetId, session_key: sessionKey } = row
  const known = live.get(id)
  if (known) return await known
  const kept = row.resume === null ? undefined : (JSON.parse(row.resume) as Kept)
  const isSandboxed = profile === sandboxProfile && kept !== undefined && sessionKey !== null
  const sandboxOf = isSandboxed ? { sessionKey, agentId: kept.agentId } : undefined
  const taking = links.browser().takeOver({ profile: profile ?? "", targetId, sandboxOf })
  live.set(id, taking)
  try {
    const taken = await taking
    const over = () => {
      if (live.get(id) === taking) core.background.run("tab gone", async () => void (await takeovers.end(id, "gone")))
    }
    taken.ended.addEventListener("abort", over, { once: true })
    return taken
  } catch (error) {
    live.delete(id)
    if (error instanceof AppError && goneCodes.has(error.code)) await takeovers.end(id, "gone")
    throw error
  }
}

function takeoverActions(
  links: TakeoverLinks,
  takeovers: Takeovers,
  release: (id: string) => Promise<void>,
): GatewayActions["takeovers"] {
  const summaryOf = (id: string) => {
    const found = takeovers.list(200).find((each) => each.id === id)
    if (found) return found
    throw new AppError("not-found", `There is no takeover ${id}`)
  }
  const made = ({ row, token }: TakeoverLink) => ({ id: row.id, token, expiresAt: row.expires_at, reason: row.reason })
  return {
    list: (limit) => takeovers.list(limit),
    async link({ id, profile, targetId, reason = "" }) {
      const isOpenToAny = profile === undefined && targetId === undefined
      const waiting = isOpenToAny ? takeovers.list(200).find(({ state }) => state === "waiting")?.id : undefined
      const renewed = id ?? waiting
      if (renewed !== undefined) return made(await takeovers.renew(renewed))
      const tab = await links.browser().takeoverTab(profile, targetId)
      return made(await takeovers.create({ profile: tab.profile, targetId: tab.targetId, reason, url: tab.url }))
    },
    async end(idOrPrefix) {
      const isWhole = takeovers.list(200).some((each) => each.id === idOrPrefix)
      const id = isWhole ? idOrPrefix : takeovers.resolve(idOrPrefix).id
      await release(id)
      if (!(await takeovers.end(id, "given-back"))) throw new AppError("conflict", "It is over already")
      return summaryOf(id)
    },
  }
}

/** To an owner's private chat alone: whoever opens the link first has the tab. */
function tell(
  core: Core,
  links: TakeoverLinks,
  write: Write,
  { link: { row, token }, until }: { link: TakeoverLink; until: string },
): boolean {
  const { agentId, origin, route: own, url } = JSON.parse(row.resume ?? "{}") as Kept
  const isPrivate = origin === "owner" && own?.chatKind === "private"
  const route: Route | undefined = isPrivate ? own : ownersChat({ ...links, sessions: links.sessions() }, agentId)
  const sender = route && links.senders().get(route.channel)
  if (!route || !sender) return false
  const { gateway } = core.config()
  const place = { bind: gateway.bind, port: links.port(), ...gateway.page }
  const { local, others } = linkAddresses(takeoverPage + token, place)
  const where =
    others.length > 0
      ? ""
      : "\n\nIt opens on the machine of the gateway only. For your other devices set `gateway.page.publicUrl`."
  const words = row.reason.replace(/[`\s]+/g, " ").trim()
  const what = words === "" ? "" : `\n\n\`${words}\``
  const text = `**Please take over** a tab of ${siteOf(url) ?? "the browser"}.${what}\n\n${others[0] ?? local}\n\nThe link works once, until ${until}. What you type there I am not shown, and it is kept nowhere. Press “Give back” when you are done.${where}`
  const rows = sender.plan(route, { text: core.redactor.hideRegistered(text), media: [], noPreview: true })
  for (const each of rows) write.addOutbox(each)
  return rows.length > 0
}

function resumedTurn(runId: string, row: TakeoverRow, why: string): NewJob {
  const { url: _then, ...kept } = JSON.parse(row.resume ?? "{}") as Kept
  const outcome = row.state === "given-back" || row.state === "gone" ? row.state : "expired"
  const { profile, target_id: targetId, reason } = row
  return turnJob(runId, {
    ...kept,
    // The session may have got another key since.
    sessionKey: row.session_key ?? kept.sessionKey,
    purpose: "chat",
    header: `[takeover: ${outcome}]`,
    text: told[outcome].replace("{why}", why),
    wrap: false,
    // The model has written the reason, maybe from words of others.
    context: [{ label: "The tab:", text: JSON.stringify({ profile, targetId, reason }) }],
  })
}
