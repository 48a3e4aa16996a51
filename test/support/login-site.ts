// A small site with a login, as sites have it: a form that is posted, a button that shows the password, a page that repeats
// what one has typed, and a frame of another origin.
import { type IncomingMessage, type Server, createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface LoginSite {
  url: string
  /** What was posted, in order. */
  posts: Record<string, string>[]
  /** The address of a page that has this site in a frame, on another origin. */
  framedIn(): string
  stop(): Promise<void>
}

const form = `<form method="post" action="/login">
  <label>User <input name="user" autocomplete="username"></label>
  <label>Password <input id="p" type="password" name="password"></label>
  <label>Code <input name="code" autocomplete="one-time-code"></label>
  <button>Sign in</button>
</form>`

const login = `<!doctype html><title>Sign in</title>${form}
<button onclick="p.type = 'text'">Show password</button>
<button onclick="echo.textContent = 'You typed ' + p.value; console.log('typed', p.value); fetch('/hit?typed=' + encodeURIComponent(p.value))">Repeat</button>
<p id="echo"></p>`

export async function startLoginSite(): Promise<LoginSite> {
  const posts: Record<string, string>[] = []
  const one = await listen(async (request) => {
    const { pathname } = new URL(request.url ?? "/", "http://site")
    if (request.method === "POST") {
      posts.push(Object.fromEntries(new URLSearchParams(await bodyOf(request))))
      return `<!doctype html><title>Inside</title><h1>Welcome</h1><p>Signed in with ${posts.at(-1)?.["password"] ?? ""}</p>`
    }
    return pathname === "/hit" ? "ok" : login
  })
  const other = await listen(
    async () => `<!doctype html><title>Other</title>${form}<iframe src="${one.url}/"></iframe>`,
  )
  return {
    url: one.url,
    posts,
    framedIn: () => `${other.url}/`,
    stop: async () => void (await Promise.all([one.stop(), other.stop()])),
  }
}

async function listen(answer: (request: IncomingMessage) => Promise<string>) {
  const server: Server = createServer((request, response) => {
    answer(request).then(
      (page) => response.setHeader("content-type", "text/html; charset=utf-8").end(page),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ""
  for await (const piece of request) text += String(piece)
  return text
}
