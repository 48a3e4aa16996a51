// What each kind of message says, in words. A kind without words becomes a short placeholder in angle brackets, so
// that nothing that somebody sends is silently lost.
import type { Location, Message } from "grammy/types"
import { chatLabel } from "./labels.ts"
import { richText } from "./rich.ts"
import { stickerFacts } from "./files.ts"

type Content<Key extends keyof Message> = NonNullable<Message[Key]>
type Describe<Key extends keyof Message> = (content: Content<Key>) => string
type Kinds = { [Key in keyof Message]?: Describe<Key> }

/** In the order of looking: an animation also carries `document`, a venue also `location`, a live photo also `photo`. */
const kinds: Kinds = {
  live_photo: () => "<media:photo>",
  photo: () => "<media:photo>",
  animation: (animation) => media("animation", seconds(animation.duration)),
  video: (video) => media("video", video.file_name, seconds(video.duration)),
  video_note: (note) => media("video_note", seconds(note.duration)),
  audio: (audio) =>
    media(
      "audio",
      [audio.performer, audio.title].filter(Boolean).join(" - ") || audio.file_name,
      seconds(audio.duration),
    ),
  voice: (voice) => media("voice", seconds(voice.duration)),
  sticker: (sticker) => stickerText(stickerFacts(sticker)),
  document: (document) => media("document", document.file_name),
  venue: (venue) => `📍 ${venue.title} — ${venue.address} (${coordinates(venue.location)})`,
  location: (location) =>
    location.live_period === undefined ? `📍 ${coordinates(location)}` : `🛰 live location: ${coordinates(location)}`,
  contact: (contact) =>
    [
      `<contact> ${[contact.first_name, contact.last_name].filter(Boolean).join(" ")}`,
      contact.phone_number,
      ...(contact.user_id === undefined ? [] : [`user id ${contact.user_id}`]),
    ].join(", "),
  poll: (poll) =>
    [
      `<poll> ${poll.question}${poll.is_closed ? " (closed)" : ""}`,
      ...poll.options.map((option) => `- ${option.text}${votes(option.voter_count)}`),
    ].join("\n"),
  dice: (dice) => `<dice> ${dice.emoji} ${dice.value}`,
  game: (game) => `<game> ${game.title}: ${game.description}`,
  story: (story) => `<media:story> ${chatLabel(story.chat)}`,
  paid_media: (paid) => media("paid_media", `${paid.paid_media.length} for ${paid.star_count} stars`),
  invoice: (invoice) =>
    `<invoice> ${invoice.title}: ${invoice.description} (${invoice.total_amount} ${invoice.currency} in smallest units)`,
  checklist: (list) =>
    [
      `<checklist> ${list.title}`,
      ...list.tasks.map((task) => `[${task.completion_date ? "x" : " "}] ${task.text}`),
    ].join("\n"),
  giveaway: (giveaway) => `<giveaway> ${giveaway.winner_count} winners, ${giveaway.chats.map(chatLabel).join(", ")}`,
  giveaway_winners: (giveaway) => `<giveaway> ${giveaway.winner_count} winners drawn, ${chatLabel(giveaway.chat)}`,
  rich_message: richText,
  // What somebody sends by a button of a keyboard.
  users_shared: (shared) => `<users_shared> ${shared.users.map((user) => user.user_id).join(", ")}`,
  chat_shared: (shared) => `<chat_shared> ${shared.chat_id}`,
  web_app_data: (sent) => `<web_app_data> ${sent.button_text}: ${sent.data}`,
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
  const set = sticker.setName === "" ? "" : `from the set "${sticker.setName}"`
  const facts = [sticker.emoji, set].filter(Boolean).join(" ")
  return ["<media:sticker>", facts, ...(known ? [`(${known})`] : [])].filter(Boolean).join(" ")
}

function media(kind: string, ...facts: (string | undefined)[]): string {
  const told = facts.filter(Boolean).join(", ")
  return told === "" ? `<media:${kind}>` : `<media:${kind}> ${told}`
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
