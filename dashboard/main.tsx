// The page: a link's code becomes a session -> who is signed in -> the layout with the page of the address.
import { render } from "preact"
import { call } from "./api.ts"
import { Layout } from "./layout.tsx"
import { enter, signedOut, takeCode, who } from "./session.ts"
import { SignIn } from "./sign-in.tsx"
import { startStream } from "./stream.ts"
import { Confirm } from "./ui/confirm.tsx"
import { clockOffset } from "./ui/time.tsx"
import { Toasts } from "./ui/toast.tsx"
import { wordsOf } from "./ui/parts.tsx"

function Root() {
  if (who.value === "unknown") return null
  return (
    <>
      {who.value === "out" ? <SignIn done={begin} /> : <Layout />}
      <Toasts />
      <Confirm />
    </>
  )
}

async function begin(): Promise<void> {
  try {
    const known = await call("GET /api/page/session")
    clockOffset.value = known.now - Date.now()
    who.value = known
    startStream()
  } catch (error) {
    signedOut(wordsOf(error))
  }
}

const code = takeCode()
if (code !== undefined) await enter(code).catch((error: unknown) => signedOut(wordsOf(error)))
if (who.value === "unknown") await begin()
render(<Root />, document.getElementById("page") as HTMLElement)
