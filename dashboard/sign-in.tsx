// For whoever is not signed in: how to get in.
import { useSignal } from "./ui/signals.ts"
import { enterWith, signInProblem } from "./session.ts"
import { Field } from "./ui/form.tsx"
import { wordsOf } from "./ui/parts.tsx"

export function SignIn({ done }: { done: () => Promise<void> }) {
  const text = useSignal("")
  const problem = useSignal("")
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      await enterWith(text.current.trim())
      await done()
    } catch (error) {
      problem.current = wordsOf(error)
    }
  }
  const told = problem.current || signInProblem.current
  return (
    <main class="sign-in">
      <h1>svc</h1>
      <p>
        Run <code>svc dashboard</code> where the gateway runs, and open the link that it prints.
      </p>
      <form onSubmit={submit}>
        <Field
          label="Link, code or token"
          type="password"
          of={text}
          hint="A token made by svc token create gets what its scopes say."
        />
        <button type="submit" class="main" disabled={text.current.trim() === ""}>
          Sign in
        </button>
      </form>
      <p class="wrong" role="alert">
        {told}
      </p>
    </main>
  )
}
