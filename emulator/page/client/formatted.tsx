// Text with its entities, and rich messages. What people and bots wrote goes in as text: no HTML of theirs is ever parsed
// into the page.
import MarkdownIt from "markdown-it"
import type { Message, MessageEntity } from "grammy/types"
import { type ComponentChildren, Fragment, h, type VNode } from "preact"
import { useState } from "preact/hooks"

const tags: Partial<Record<MessageEntity["type"], string>> = {
  bold: "b",
  italic: "i",
  underline: "u",
  strikethrough: "s",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
  expandable_blockquote: "blockquote",
}

function Spoiler({ children }: { children: ComponentChildren }) {
  const [isOpen, open] = useState(false)
  return (
    <button type="button" class={isOpen ? "spoiler open" : "spoiler"} onClick={() => open(true)}>
      {children}
    </button>
  )
}

export function Link({ address, children }: { address: string; children: ComponentChildren }) {
  const full = /^[a-z][a-z+.-]*:/i.test(address) ? address : `https://${address}`
  if (!/^https?:/i.test(full)) return <span title={address}>{children}</span>
  return (
    <a href={full} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

function wrap(entity: MessageEntity, text: string, children: ComponentChildren): VNode {
  if (entity.type === "spoiler") return <Spoiler>{children}</Spoiler>
  if (entity.type === "text_link") return <Link address={entity.url}>{children}</Link>
  if (entity.type === "url") return <Link address={text}>{children}</Link>
  const tag = tags[entity.type]
  return tag ? h(tag, {}, children) : <span class="entity">{children}</span>
}

interface FormattedProps {
  text: string
  entities: readonly MessageEntity[]
}

/** Entities lie inside of one another or beside, so each one takes what it holds. */
export function Formatted({ text, entities }: FormattedProps) {
  return <>{parts(text, entities, 0, text.length)}</>
}

function parts(text: string, entities: readonly MessageEntity[], begin: number, end: number): ComponentChildren[] {
  const made: ComponentChildren[] = []
  let position = begin
  for (let index = 0; index < entities.length;) {
    const entity = entities[index] as MessageEntity
    const finish = Math.min(entity.offset + entity.length, end)
    let next = index + 1
    while (next < entities.length && (entities[next] as MessageEntity).offset < finish) next += 1
    if (entity.offset > position) made.push(text.slice(position, entity.offset))
    const inside = parts(text, entities.slice(index + 1, next), entity.offset, finish)
    made.push(wrap(entity, text.slice(entity.offset, finish), inside))
    position = finish
    index = next
  }
  if (position < end) made.push(text.slice(position, end))
  return made
}

const markdown = new MarkdownIt({ html: false, linkify: false })

/** Elements of rich messages that the page draws; of any other, its content. */
const richTags = new Set(
  "b strong i em u ins s del code pre blockquote h1 h2 h3 h4 h5 h6 p ul ol li table thead tbody tr th td hr br sub sup mark details summary".split(
    " ",
  ),
)

/** A document that is parsed apart runs and loads nothing; only its words and known elements come over. */
function fromHtml(html: string): ComponentChildren {
  return childrenOf(new DOMParser().parseFromString(html, "text/html").body)
}

function childrenOf(node: Node): ComponentChildren[] {
  return [...node.childNodes].map((child) => {
    if (child instanceof Text) return child.data
    if (!(child instanceof Element)) return ""
    const tag = child.localName
    if (tag === "a") return <Link address={child.getAttribute("href") ?? ""}>{childrenOf(child)}</Link>
    if (tag === "tg-spoiler") return <Spoiler>{childrenOf(child)}</Spoiler>
    return richTags.has(tag) ? h(tag, {}, childrenOf(child)) : <Fragment>{childrenOf(child)}</Fragment>
  })
}

export function Rich({ content }: { content: NonNullable<Message["rich_message"]> }) {
  const given = content as { markdown?: string; html?: string; blocks?: unknown }
  if (given.markdown !== undefined) return <div class="body rich">{fromHtml(markdown.render(given.markdown))}</div>
  if (given.html !== undefined) return <div class="body rich">{fromHtml(given.html)}</div>
  return <pre class="body">{JSON.stringify(given.blocks, null, 2)}</pre>
}
