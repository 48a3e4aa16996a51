// Who is signed in. The cookie is the browser's matter and no script sees it; the key beside it is kept for this origin,
// which, other than the cookie's host, has the port in it. A link's code leaves the address at once.
import { signal } from "./ui/signals.ts"
import type { Api } from "../src/gateway/endpoints/index.ts"
import { replace } from "./router.ts"

export type Who = Api["GET /api/page/session"]["reply"]

const storageKey = "svc-page-key"
const whoKey = "svc-page-who"
/**
 * `out`: nobody; `unknown` until the gateway has answered. Whoever was signed in the last time is taken for signed in
 * meanwhile, so that the page asks for what it shows at once; what they may see, the gateway decides with each answer.
 */
export const who = signal<Who | "out" | "unknown">(
  (JSON.parse((pageKey() && localStorage.getItem(whoKey)) || "null") as Who | null) ?? "unknown",
)
/** Why nobody is signed in, in the gateway's words. */
export const signInProblem = signal("")

export function pageKey(): string {
  return localStorage.getItem(storageKey) ?? ""
}

export function signedIn(known: Who): void {
  const before = who.current
  localStorage.setItem(whoKey, JSON.stringify(known))
  // The time of its last use is another with each answer, and shown nowhere.
  const same = ({ session, scopes, version }: Who) => `${session?.id} ${String(scopes)} ${version}`
  if (typeof before !== "object" || same(before) !== same(known)) who.current = known
}

export function signedOut(problem = ""): void {
  localStorage.removeItem(storageKey)
  localStorage.removeItem(whoKey)
  signInProblem.current = problem
  who.current = "out"
}

export function may(scope: string): boolean {
  const known = who.current
  return typeof known === "object" && known.scopes.some((held) => held === scope || held === "admin")
}

/** The code of a link, taken out of the address. */
export function takeCode(): string | undefined {
  const code = /^#enter=([\w-]+)$/.exec(location.hash)?.[1]
  if (code !== undefined) replace(location.pathname)
  return code
}

/** Throws in words for people. */
export async function enter(code: string): Promise<void> {
  const answer = await post("enter", { code })
  localStorage.setItem(storageKey, answer.key as string)
}

/** Of what somebody pastes: a link or its code; or a token, which makes a link first. */
export async function enterWith(text: string): Promise<void> {
  const code = /(?:#enter=|^)([\w-]{32})$/.exec(text)?.[1]
  if (code !== undefined) return await enter(code)
  const link = await post("../api/page/links", {}, { authorization: `Bearer ${text}` })
  await enter(String(link.url).split("#enter=")[1] ?? "")
}

interface Answer {
  key?: unknown
  url?: unknown
  error?: { message: string; hint?: string }
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  })
  const answer = (await response.json()) as Answer
  if (answer.error) throw new Error([answer.error.message, answer.error.hint].filter(Boolean).join(". "))
  return answer
}
