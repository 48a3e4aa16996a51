// The page: a link's code becomes a session -> who is signed in -> the layout with the page of the address.
import { signal } from "./ui/signals.ts"
import { render } from "preact"
import { CallError, call, forgetEarly } from "./api.ts"
import { fetchFirst } from "./pages.ts"
import { Layout } from "./layout.tsx"
import { enter, pageKey, signedIn, signedOut, takeCode, who } from "./session.ts"
import { SignIn } from "./sign-in.tsx"
import { startStream } from "./stream.ts"
import { Confirm } from "./ui/confirm.tsx"
import { clockOffset } from "./ui/time.tsx"
import { Toasts } from "./ui/toast.tsx"
import { Failure, wordsOf } from "./ui/parts.tsx"

/** Why it is not known who is signed in. */
const problem = signal<unknown>(undefined)

function Root() {
  if (who.current === "unknown") {
    return (
      <main class="sign-in">{problem.current !== undefined && <Failure error={problem.current} retry={begin} />}</main>
    )
  }
  return (
    <>
      {who.current === "out" ? <SignIn done={begin} /> : <Layout />}
      <Toasts />
      <Confirm />
    </>
  )
}

async function begin(): Promise<void> {
  // Whoever has never signed in here is asked to, and has done nothing wrong.
  if (!pageKey()) return signedOut(linkProblem)
  try {
    const known = await call("GET /api/page/session")
    clockOffset.current = known.now - Date.now()
    signedIn(known)
  } catch (error) {
    // A gateway that does not answer has ended nobody's session.
    if (error instanceof CallError && error.status === 401) signedOut(linkProblem || wordsOf(error))
    else problem.current = error
  }
  startStream()
}

const code = takeCode()
let linkProblem = ""
// A link that is used up opens nothing, and ends nothing either: whoever is signed in stays so.
if (code !== undefined) await enter(code).catch((error: unknown) => (linkProblem = wordsOf(error)))
const shown = fetchFirst()
void begin()
// To show that it is on its way takes longer than it does. What went wrong is told where it is asked for again.
await shown.catch(() => undefined)
render(<Root />, document.getElementById("page") as HTMLElement)
// Whoever has not taken it by now asks for something else.
forgetEarly()
