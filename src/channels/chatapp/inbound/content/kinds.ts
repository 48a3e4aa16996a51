// What each kind of message says, in words. A kind without words becomes a short placeholder in angle brackets, so
// that nothing that somebody sends is silently lost. What the sender has not typed into this message (names of files,
// places and people, titles, what a form holds) is marked as words of others.
import type { Location, Message } from "grammy/types"
import { markLine } from "../../../../agent/prompt.ts"
import { chatLabel } from "./labels.ts"
import { richText } from "./rich.ts"
import { stickerFacts } from "./files.ts"

const isEmoji = /^[\p{Emoji}\p{M}\u200d]{1,16}$/u

type Content<Key extends keyof Message> = NonNullable<Message[Key]>
type Describe<Key extends keyof Message> = (content: Content<Key>) => string
type Kinds = { [Key in keyof Message]?: Describe<Key> }

/** In the order of looking: an animation also carries `document`, a venue also `location`, a live photo also `photo`. */
const kinds: Kinds = {
  live_photo: () => "<media:photo>",
  photo: () => "<media:photo>",
  animation: (animation) => media("animation", seconds(animation.duration)),
  video: (video) => media("video", named(video.file_name), seconds(video.duration)),
  video_note: (note) => media("video_note", seconds(note.duration)),
  audio: (audio) =>
    media(
      "audio",
      named([audio.performer, audio.title].filter(Boolean).join(" - ") || audio.file_name),
      seconds(audio.duration),
    ),
  voice: (voice) => media("voice", seconds(voice.duration)),
  sticker: (sticker) => stickerText(stickerFacts(sticker)),
  document: (document) => media("document", named(document.file_name)),
  venue: (venue) => `📍 ${markLine(venue.title)} — ${markLine(venue.address)} (${coordinates(venue.location)})`,
  location: (location) =>
    location.live_period === undefined ? `📍 ${coordinates(location)}` : `🛰 live location: ${coordinates(location)}`,
  contact: (contact) =>
    [
      `<contact> ${markLine([contact.first_name, contact.last_name].filter(Boolean).join(" "))}`,
      markLine(contact.phone_number),
      ...(contact.user_id === undefined ? [] : [`user id ${contact.user_id}`]),
    ].join(", "),
  poll: (poll) =>
    [
      `<poll> ${markLine(poll.question)}${poll.is_closed ? " (closed)" : ""}`,
      ...poll.options.map((option) => `- ${markLine(option.text)}${votes(option.voter_count)}`),
    ].join("\n"),
  dice: (dice) => `<dice> ${emojiText(dice.emoji)} ${Number(dice.value)}`,
  game: (game) => `<game> ${markLine(game.title)}: ${markLine(game.description)}`,
  story: (story) => `<media:story> ${markLine(chatLabel(story.chat))}`,
  paid_media: (paid) => media("paid_media", `${paid.paid_media.length} for ${paid.star_count} stars`),
  invoice: (invoice) =>
    `<invoice> ${markLine(invoice.title)}: ${markLine(invoice.description)} (${Number(invoice.total_amount)} ${markLine(invoice.currency)} in smallest units)`,
  checklist: (list) =>
    [
      `<checklist> ${markLine(list.title)}`,
      ...list.tasks.map((task) => `[${task.completion_date ? "x" : " "}] ${markLine(task.text)}`),
    ].join("\n"),
  giveaway: (giveaway) =>
    `<giveaway> ${giveaway.winner_count} winners, ${giveaway.chats.map((chat) => markLine(chatLabel(chat))).join(", ")}`,
  giveaway_winners: (giveaway) =>
    `<giveaway> ${giveaway.winner_count} winners drawn, ${markLine(chatLabel(giveaway.chat))}`,
  rich_message: richText,
  // What somebody sends by a button of a keyboard.
  users_shared: (shared) => `<users_shared> ${shared.users.map((user) => user.user_id).join(", ")}`,
  chat_shared: (shared) => `<chat_shared> ${shared.chat_id}`,
  web_app_data: (sent) => `<web_app_data> ${markLine(sent.button_text)}: ${markLine(sent.data)}`,
}
const names = Object.keys(kinds) as (keyof typeof kinds)[]

/** Undefined when the message carries none of the kinds. */
export function describeKind(message: Partial<Message>): string | undefined {
  for (const name of names) {
    const content = message[name]
    if (content === undefined) continue
    try {
      return (kinds[name] as Describe<typeof name>)(content as never)
    } catch (error) {
      // A later version of the platform has changed the kind: it is still known that something was sent.
      if (error instanceof TypeError) return `<${name}>`
      throw error
    }
  }
  return undefined
}

/** `known` is what the sticker shows, once somebody has looked. */
export function stickerText(sticker: { emoji: string; setName: string }, known?: string): string {
  const set = sticker.setName === "" ? "" : `from the set ${markLine(sticker.setName)}`
  const facts = [emojiText(sticker.emoji), set].filter(Boolean).join(" ")
  return ["<media:sticker>", facts, ...(known ? [`(${markLine(known)})`] : [])].filter(Boolean).join(" ")
}

function media(kind: string, ...facts: (string | undefined)[]): string {
  const told = facts.filter(Boolean).join(", ")
  return told === "" ? `<media:${kind}>` : `<media:${kind}> ${told}`
}

/** Whoever made a sticker or game says which emoji it stands for. */
function emojiText(emoji: string): string {
  return emoji === "" || isEmoji.test(emoji) ? emoji : markLine(emoji)
}

function named(name: string | undefined): string | undefined {
  return name === undefined || name === "" ? undefined : markLine(name)
}

function seconds(duration: number | undefined): string | undefined {
  return duration ? `${duration} s` : undefined
}

function votes(count: number | undefined): string {
  return count ? ` (${count})` : ""
}

/** Six decimals are a tenth of a metre. */
function coordinates(location: Location): string {
  const place = `${location.latitude.toFixed(6)}, ${location.longitude.toFixed(6)}`
  return location.horizontal_accuracy === undefined ? place : `${place} ±${Math.round(location.horizontal_accuracy)} m`
}
