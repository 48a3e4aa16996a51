// Makes a bot with its queue, its two ways of delivery and its limits.
import type { UserFromGetMe } from "grammy/types"
import { defaultFloodLimits, Flood } from "../flood.ts"
import { UpdatePoll } from "../updates/poll.ts"
import { UpdateQueue } from "../updates/queue.ts"
import { WebhookSender } from "../updates/webhook.ts"
import type { Arguments } from "../wire/arguments.ts"
import { Bot } from "./bot.ts"
import type { World } from "./world.ts"

export interface NewBot {
  token?: string | undefined
  username?: string | undefined
  firstName?: string | undefined
  /** Forum topics in private chats. Default true. */
  privateTopics?: boolean | undefined
  /** Privacy mode: in groups the bot sees only what is meant for it. Default false. */
  privacy?: boolean | undefined
}

export function createBot(world: World, settings: NewBot, execute: (bot: Bot, call: Arguments) => void): Bot {
  const { clock, random, options } = world
  const token = settings.token ?? `${random.integer(1_000_000_000, 8_000_000_000)}:AA${random.text(33)}`
  const queue = new UpdateQueue({ clock, random })
  const limits = options.limits ? { ...defaultFloodLimits, ...options.limits } : undefined
  const user = account(Number(token.split(":")[0]), settings)
  const bot: Bot = new Bot({
    token,
    user,
    queue,
    poll: new UpdatePoll({ clock, queue }),
    webhook: new WebhookSender({
      clock,
      random,
      queue,
      execute: (call) => execute(bot, call),
      report: (updateId, status, error) => {
        const failure = error === undefined ? {} : { error }
        world.feed.publish({ type: "webhook", botId: user.id, updateId, status, ...failure })
      },
    }),
    flood: new Flood({ clock, limits }),
    startedAt: clock.now(),
  })
  world.bots.set(token, bot)
  return bot
}

function account(id: number, settings: NewBot): UserFromGetMe {
  return {
    id,
    is_bot: true,
    first_name: settings.firstName ?? "Test Bot",
    username: settings.username ?? `test_${id}_bot`,
    can_join_groups: true,
    can_read_all_group_messages: settings.privacy !== true,
    supports_guest_queries: false,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: settings.privateTopics !== false,
    allows_users_to_create_topics: settings.privateTopics !== false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  }
}
