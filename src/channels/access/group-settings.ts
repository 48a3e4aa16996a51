// What the configuration says about a group and its topics, put together once: a topic takes from its group what it does
// not say itself, a group from `*`. Each value knows the key it came from, so that a decision can name it.
import type { ToolPolicy } from "../../agent/tool-policy.ts"
import { type AllowList, parseAllowList, stripPrefixes } from "./allow-list.ts"

export interface PlaceConfig {
  requireMention?: boolean | undefined
  skills?: string[] | undefined
  allowFrom?: string[] | undefined
  systemPrompt?: string | undefined
  enabled?: boolean | undefined
  tools?: ToolPolicy | undefined
  toolsBySender?: Record<string, ToolPolicy> | undefined
}

export interface GroupConfig extends PlaceConfig {
  topics?: Record<string, PlaceConfig> | undefined
}

export type PlaceField = keyof PlaceConfig

/** How one place (a group, a topic) is answered. */
export interface PlaceSettings {
  enabled: boolean
  requireMention: boolean
  /** Who may write here, instead of the account's list. */
  allow?: AllowList
  /** Unset: all of the agent's. */
  skills?: readonly string[]
  /** Which tools turns here may use; unset: all. */
  tools?: ToolPolicy
  /** Instead of `tools`, for one sender by id, or for all others by `*`. */
  toolsBySender?: ReadonlyMap<string, ToolPolicy>
  /** The operator's words for this place; the group's, then the topic's. */
  systemPrompt?: string
  /** Keys below the account's section that decided, such as `groups["-100"].topics["5"].enabled`. */
  sources: Partial<Record<PlaceField, string>>
}

export interface GroupSettings extends PlaceSettings {
  /** `own`: by its id. `everywhere`: by `*`. `unset`: nothing is listed, so every group is. */
  listed: "own" | "everywhere" | "unset"
  topics: ReadonlyMap<string, PlaceSettings>
}

export interface GroupBook {
  /** Undefined for a group that is not listed although others are. */
  of(chatId: string): GroupSettings | undefined
}

const everywhere = "*"

/** An empty map says as little as none: every group is listed. */
export function createGroupBook(
  groups: Record<string, GroupConfig> | undefined,
  prefixes: readonly string[],
): GroupBook {
  const entries = Object.entries(groups ?? {})
  if (entries.length === 0) {
    const all = deriveGroup([], "unset", prefixes)
    return { of: () => all }
  }
  const shared = groups?.[everywhere]
  const other = shared && deriveGroup([{ path: pathOf(everywhere), config: shared }], "everywhere", prefixes)
  const own = new Map(
    entries
      .filter(([id]) => id !== everywhere)
      .map(([id, config]) => {
        const layers = [{ path: pathOf(id), config }]
        if (shared) layers.push({ path: pathOf(everywhere), config: shared })
        return [id, deriveGroup(layers, "own", prefixes)]
      }),
  )
  return { of: (chatId) => own.get(chatId) ?? other }
}

interface Layer<Config> {
  path: string
  config: Config
}

/** `layers`: the most particular first. */
function deriveGroup(
  layers: readonly Layer<GroupConfig>[],
  listed: GroupSettings["listed"],
  prefixes: readonly string[],
): GroupSettings {
  const group = derivePlace(layers, prefixes)
  const topicIds = new Set(layers.flatMap(({ config }) => Object.keys(config.topics ?? {})))
  const topics = new Map<string, PlaceSettings>()
  for (const topicId of topicIds) {
    const own = layers.flatMap(({ path, config }) => {
      const topic = config.topics?.[topicId]
      return topic ? [{ path: `${path}.topics["${topicId}"]`, config: topic }] : []
    })
    const topic = derivePlace([...own, ...layers], prefixes)
    const prompt = joinPrompts(group.systemPrompt, derivePlace(own, prefixes).systemPrompt)
    topics.set(topicId, {
      ...topic,
      ...(prompt === undefined ? {} : { systemPrompt: prompt }),
    })
  }
  return { ...group, listed, topics }
}

function derivePlace(layers: readonly Layer<PlaceConfig>[], prefixes: readonly string[]): PlaceSettings {
  const sources: PlaceSettings["sources"] = {}
  const find = <Field extends PlaceField>(field: Field): PlaceConfig[Field] => {
    const layer = layers.find(({ config }) => config[field] !== undefined)
    if (layer) sources[field] = `${layer.path}.${field}`
    return layer?.config[field]
  }
  const allowFrom = find("allowFrom")
  const skills = find("skills")
  const systemPrompt = find("systemPrompt")?.trim()
  const tools = find("tools")
  const toolsBySender = find("toolsBySender")
  // A place's own `tools` win over what is said elsewhere of everybody, not over what is said there of one by id.
  const isOverruled = isNearer(layers, "tools", "toolsBySender")
  return {
    enabled: find("enabled") ?? true,
    requireMention: find("requireMention") ?? true,
    ...(allowFrom === undefined ? {} : { allow: parseAllowList(allowFrom, prefixes) }),
    ...(skills === undefined ? {} : { skills }),
    ...(systemPrompt ? { systemPrompt } : {}),
    ...(tools === undefined ? {} : { tools }),
    ...(toolsBySender === undefined ? {} : { toolsBySender: bySender(toolsBySender, { prefixes, isOverruled }) }),
    sources,
  }
}

/** Whether the one is set in a more particular place than the other. */
function isNearer(layers: readonly Layer<PlaceConfig>[], one: PlaceField, other: PlaceField): boolean {
  const first = layers.find(({ config }) => config[one] !== undefined || config[other] !== undefined)
  return first?.config[one] !== undefined && first.config[other] === undefined
}

function bySender(
  policies: Record<string, ToolPolicy>,
  { prefixes, isOverruled }: { prefixes: readonly string[]; isOverruled: boolean },
): Map<string, ToolPolicy> {
  const entries = Object.entries(policies).map(
    ([key, policy]) => [stripPrefixes(key.trim(), prefixes), policy] as const,
  )
  return new Map(entries.filter(([key]) => !(isOverruled && key === everywhere)))
}

/** What one sender may use in a place; undefined: everything. */
export function toolsOf(place: PlaceSettings | undefined, senderId: string): ToolPolicy | undefined {
  const { tools, toolsBySender: bySenderId } = place ?? {}
  return bySenderId?.get(senderId) ?? bySenderId?.get(everywhere) ?? tools
}

function pathOf(id: string): string {
  return `groups[${JSON.stringify(id)}]`
}

function joinPrompts(group: string | undefined, topic: string | undefined): string | undefined {
  return group && topic ? `${group}\n\n${topic}` : (topic ?? group)
}
