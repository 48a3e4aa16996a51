// Menu, head and the page of the address.
import { useSignal } from "./ui/signals.ts"
import { useEffect, useMemo, useRef } from "./ui/hooks.ts"
import { call } from "./api.ts"
import { type Page, contentOf, loadPage, pages } from "./pages.ts"
import { link, place } from "./router.ts"
import { may, signedOut, who } from "./session.ts"
import { isLive, isLost } from "./stream.ts"
import { Button, Empty, Failure } from "./ui/parts.tsx"
import { Icon } from "./ui/icons.tsx"

export function Layout() {
  const isOpen = useSignal(false)
  const menu = useRef<HTMLButtonElement>(null)
  const shown = pages.filter(({ scope }) => may(scope))
  const [name] = place.current.path
  const page = name === undefined ? shown[0] : shown.find((one) => one.name === name)
  useEffect(() => {
    document.title = page ? `${page.title} · svc` : "svc"
    isOpen.current = false
  }, [page, place.current])
  return (
    <div
      class={isOpen.current ? "layout open" : "layout"}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen.current) return
        isOpen.current = false
        menu.current?.focus()
      }}
    >
      <a class="skip" href="#main" onClick={skip}>
        To the content
      </a>
      <header class="top">
        <button
          ref={menu}
          type="button"
          class="menu"
          aria-label="Menu"
          aria-expanded={isOpen.current}
          aria-controls="menu"
          onClick={() => (isOpen.current = !isOpen.current)}
        >
          <Icon name={isOpen.current ? "close" : "menu"} />
        </button>
        <strong class="brand">svc</strong>
        <strong>{page?.title}</strong>
        <span class={isLive.current ? "live on" : "live"} role="status">
          {isLive.current ? "Live" : "Connecting…"}
        </span>
      </header>
      <nav id="menu" aria-label="Pages">
        <ul>
          {shown.map((one) => (
            <li key={one.name}>
              <a href={link(one.name)} aria-current={one === page ? "page" : undefined}>
                <Icon name={one.name} />
                {one.title}
              </a>
            </li>
          ))}
        </ul>
        <SignOut />
      </nav>
      <main id="main" tabIndex={0}>
        {isLost.current && (
          <p class="failure" role="alert">
            Not connected: what stands here may be old
          </p>
        )}
        {page ? (
          <Shown key={page.name} page={page} />
        ) : (
          <Empty title="There is no such page">The menu has those that there are.</Empty>
        )}
      </main>
    </div>
  )
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById("main")?.focus()
}

function SignOut() {
  const known = who.current
  if (typeof known !== "object" || !known.session) return null
  const leave = async () => {
    await call("POST /api/page/leave")
    signedOut()
  }
  return (
    <footer>
      <Button act={leave} icon="leave">
        Sign out
      </Button>
      <small class="dim">svc {known.version}</small>
    </footer>
  )
}

function Shown({ page }: { page: Page }) {
  const failure = useSignal<unknown>(undefined)
  const Content = contentOf(page)
  useMemo(() => Content ?? loadPage(page).catch((error: unknown) => (failure.current = error)), [])
  // A module that could not be fetched stays so until the page is read anew: browsers remember it.
  if (failure.current !== undefined) return <Failure error={failure.current} retry={() => location.reload()} />
  return Content ? (
    <>
      <h1>{page.title}</h1>
      <Content />
    </>
  ) : (
    <p class="dim">Loading…</p>
  )
}
