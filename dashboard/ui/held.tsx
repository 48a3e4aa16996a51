// What somebody holds and may lose: a list under its title, each with the button that takes it away for good.
import type { ComponentChildren } from "preact"
import { Button } from "./parts.tsx"
import { Rows, fixedList } from "./rows.tsx"

interface HeldProps<Item> {
  title: string
  items: readonly Item[]
  empty: readonly [title: string, text: string]
  /** On the button, and before the name in its question. */
  verb: string
  /** What it is then. */
  past: string
  act: (item: Item) => Promise<unknown>
  /** What it means for good. */
  means: string
  children: (item: Item) => ComponentChildren
}

export function Held<Item extends { name: string; id?: number | string }>({
  title,
  items,
  empty,
  verb,
  past,
  act,
  means,
  children,
}: HeldProps<Item>) {
  return (
    <section class="section">
      <h2>{title}</h2>
      <Rows list={fixedList(items.map((item) => ({ id: item.name, ...item })))} label={title} empty={empty}>
        {(item) => (
          <>
            {children(item)}
            <Button
              act={() => act(item)}
              sure={[`${verb} ${item.name}?`, means]}
              done={`${item.name} is ${past}`}
              label={`${verb} ${item.name}`}
            >
              {verb}
            </Button>
          </>
        )}
      </Rows>
    </section>
  )
}
