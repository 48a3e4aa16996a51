// Whose messages count in a group, its topics, or a channel: the group is judged first, then whoever speaks.
// What somebody may do directly says nothing here: only the group's own lists let in, and an empty list lets in nobody.
import type { Origin } from "../../sessions/route.ts"
import { type AllowList, type NamesOfId, type Sender, listedAs } from "./allow-list.ts"
import { type AccessDecision, type AccessRule, drop, firstDecision } from "./decision.ts"
import type { GroupSettings, PlaceSettings } from "./group-settings.ts"

export type GroupPolicy = "open" | "allowlist" | "disabled"

export interface GroupQuestion {
  policy: GroupPolicy
  /** A channel has to be listed by its own id. */
  isChannel: boolean
  /** Undefined: not listed although others are. */
  group: GroupSettings | undefined
  /** The topic's settings where it has any, else the group's. */
  place: PlaceSettings | undefined
  /** `groupAllowFrom`; counts where the place has no list of its own. */
  groupAllow: AllowList
  /** `allowFrom` and pairing: they let nobody in here, but say how much the words of somebody let in are worth. */
  directAllow: AllowList
  paired: ReadonlySet<string>
  sender: Sender
  namesOf: NamesOfId
}

export const groupRules: readonly AccessRule<GroupQuestion>[] = [
  { name: "group-policy", judge: ({ policy }) => (policy === "disabled" ? drop("group-policy-disabled") : undefined) },
  {
    name: "group-listed",
    judge({ group, isChannel }) {
      if (isChannel) return group?.listed === "own" ? undefined : drop("channel-not-listed")
      return group ? undefined : drop("group-not-listed")
    },
  },
  { name: "group-enabled", judge: ({ group }) => (group?.enabled === false ? drop("group-disabled") : undefined) },
  { name: "topic-enabled", judge: ({ place }) => (place?.enabled === false ? drop("topic-disabled") : undefined) },
  {
    name: "sender-kind",
    judge({ sender }) {
      if (sender.isService) return drop("service-account")
      return sender.isBot ? drop("bot") : undefined
    },
  },
  {
    name: "sender-listed",
    judge(question) {
      const { place, groupAllow, sender, namesOf } = question
      const listed = listedAs(place?.allow ?? groupAllow, sender, namesOf)
      return listed && accept(question, listed === "id" ? "listed-id" : "listed-name", true)
    },
  },
  {
    name: "everybody-listed",
    judge(question) {
      const { place, groupAllow } = question
      return (place?.allow ?? groupAllow).everybody ? accept(question, "everybody", false) : undefined
    },
  },
  {
    name: "group-open",
    judge: (question) =>
      question.policy === "open" && !question.place?.allow ? accept(question, "group-open", false) : undefined,
  },
  { name: "unknown", judge: () => drop("sender-not-listed") },
]

export function decideGroup(question: GroupQuestion): AccessDecision {
  return firstDecision(groupRules, question)
}

/** Members that are let in with all others have no standing with the operator, unless they have it for another reason. */
function accept(
  question: GroupQuestion,
  rule: "listed-id" | "listed-name" | "everybody" | "group-open",
  named: boolean,
) {
  const { origin, trusted } = standingOf(question, named)
  return { kind: "accept", rule, origin, trusted } as const
}

function standingOf(
  { directAllow, paired, sender, namesOf }: GroupQuestion,
  named: boolean,
): { origin: Origin; trusted: boolean } {
  const direct = listedAs(directAllow, sender, namesOf)
  if (direct === "id") return { origin: "owner", trusted: true }
  if (direct === "name" || named || paired.has(sender.id)) return { origin: "approved-sender", trusted: true }
  return { origin: "group-member", trusted: false }
}
