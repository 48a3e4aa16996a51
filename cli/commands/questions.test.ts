// Commands that ask or wait for a person, on a real terminal.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { openPseudoTerminal } from "../../test/support/pseudo-terminal.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { inherited, testedProgram } from "../testing/run-program.ts"
import { answerJson, startStandIn } from "../testing/stand-in-gateway.ts"

/** Presses Ctrl-C once `shown` stands on the screen: the command is to end quietly, and not as a failure. */
async function interrupt(words: readonly string[], environment: NodeJS.ProcessEnv, shown: string): Promise<string> {
  const screen = openPseudoTerminal([process.execPath, testedProgram, ...words], {
    environment: { ...inherited(), HOME: "/nonexistent", ...environment },
  })
  await screen.shows(shown)
  screen.child.stdin?.write("\u0003")
  assert.equal(await screen.ended, 130, screen.screen())
  assert.doesNotMatch(screen.screen(), /error/)
  return screen.screen()
}

test("Ctrl-C at the question of svc pairing approve lets nobody in", async (context) => {
  const request = { code: "AB3DEF7H", senderId: "4711", account: "default", createdAt: 1, expiresAt: 2, sharesWith: 1 }
  const gateway = await startStandIn(answerJson({ requests: [request], allowed: [] }))
  context.after(() => gateway.stop())
  await interrupt(["pairing", "approve", "chatapp", "AB3DEF7H"], gateway.environment, "Let 4711 in all the same?")
  assert.deepEqual(
    gateway.requests.map(({ method }) => method),
    ["GET"],
  )
})

test("Ctrl-C ends the set-up of the mail watch at its question, and while it waits for the browser", async () => {
  const stateFolder = temporaryFolder()
  const setup = ["webhooks", "gmail", "setup", "--account", "me@example.com", "--no-cloud", "--project", "p"]
  const words = [...setup, "--push-endpoint", "https://hooks.example.com/gmail-pubsub"]
  const environment = { SVC_STATE_DIR: stateFolder }
  await interrupt(words, environment, "OAuth client id:")
  const file = join(stateFolder, "client.json")
  writeFileSync(file, JSON.stringify({ installed: { client_id: "1-a", client_secret: "s" } }))
  await interrupt([...words, "--client-file", file], environment, "accounts.google.com")
})
