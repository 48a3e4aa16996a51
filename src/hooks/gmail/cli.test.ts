// `svc webhooks gmail ...` as a person runs it: sign-in in a browser, a cloud project set up twice, dry runs, and no
// secret in what is printed.
import assert from "node:assert/strict"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { Command } from "commander"
import {
  type GoogleStandIn,
  pushServiceAccount,
  startGoogle,
  testAccount,
  testClient,
} from "../../../test/support/google/stand-in.ts"
import { installTailscale } from "../../../test/support/tailscale/stand-in.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { loadConfigOrThrow } from "../../config/index.ts"
import { registerGmailCommands } from "./cli.ts"

const endpoint = "https://hooks.example.com/gmail-pubsub"
const setupArguments = ["setup", "--account", testAccount, "--push-endpoint", endpoint]

interface Outcome {
  stdout: string
  stderr: string
  code: number
}

async function desk(context: TestContext) {
  const google = await startGoogle(context)
  const stateFolder = temporaryFolder()
  const configPath = join(stateFolder, "svc.json")
  const clientFile = join(stateFolder, "client.json")
  writeFileSync(clientFile, JSON.stringify({ installed: testClient }))
  const env = { SVC_STATE_DIR: stateFolder, HOME: stateFolder }
  const run = async (words: string[], more: RunOptions = {}): Promise<Outcome> => {
    const outcome: Outcome = { stdout: "", stderr: "", code: 0 }
    const browsed = new Set<string>()
    const program = new Command().exitOverride()
    registerGmailCommands(program, {
      stdout: (text) => void (outcome.stdout += text),
      stderr(text) {
        outcome.stderr += text
        more.onStderr?.(text)
        const address = /^ {2}(http\S+)$/m.exec(text)?.[1]
        if (address === undefined || browsed.has(address) || more.prompt) return
        browsed.add(address)
        if (!words.includes("--dry-run")) void browse(google, address)
      },
      env: { ...env, ...more.env },
      exit: (code) => {
        outcome.code = code
      },
      prompt: async (question) => {
        if (!more.prompt) throw new Error(`nobody is here to answer: ${question}`)
        return await more.prompt(question, outcome.stderr)
      },
      signal: more.signal ?? new AbortController().signal,
      apiRoots: google.roots,
    })
    await program.parseAsync(["webhooks", "gmail", ...words], { from: "user" })
    return outcome
  }
  const config = () => loadConfigOrThrow({ path: configPath, env }).config
  return { google, stateFolder, configPath, clientFile, run, config }
}

interface RunOptions {
  env?: Record<string, string>
  prompt?: (question: string, shown: string) => Promise<string>
  signal?: AbortSignal
  onStderr?: (text: string) => void
}

/** The person's browser: agrees, and follows the way back to the listener on loopback. */
async function browse(google: GoogleStandIn, address: string): Promise<void> {
  const back = await google.consent(address)
  // A page that guesses the port learns nothing and ends nothing.
  const guess = await fetch(new URL("/?code=stolen&state=guessed", back))
  assert.equal(guess.status, 404)
  assert.equal((await fetch(back)).status, 200)
}

test("setup signs in, sets up the project and writes what the gateway needs", async (context) => {
  const { clientFile, config, google, run, stateFolder } = await desk(context)
  const outcome = await run([...setupArguments, "--client-file", clientFile, "--port", "9788"])
  assert.equal(outcome.code, 0, outcome.stderr)
  const topic = "projects/123456/topics/svc-gmail-watch"
  const subscription = google.state.subscriptions.get("projects/123456/subscriptions/svc-gmail-watch-push")
  const { hooks } = config()
  const { pushToken } = hooks.gmail ?? {}
  assert.deepEqual(subscription?.["pushConfig"], {
    pushEndpoint: `${endpoint}?token=${pushToken}`,
    oidcToken: { serviceAccountEmail: pushServiceAccount, audience: endpoint },
  })
  assert.deepEqual([subscription?.["topic"], subscription?.["expirationPolicy"]], [topic, {}])
  assert.deepEqual(google.state.policies.get(topic)?.["bindings"], [
    { role: "roles/pubsub.publisher", members: ["serviceAccount:gmail-api-push@system.gserviceaccount.com"] },
  ])
  assert.deepEqual([hooks.enabled, hooks.presets, hooks.gmail?.account], [true, ["gmail"], testAccount])
  assert.deepEqual([hooks.gmail?.topic, hooks.gmail?.serve.port], [topic, 9788])
  assert.ok((hooks.token?.length ?? 0) >= 24)
  const file = join(stateFolder, "credentials", "gmail.json")
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const stored = JSON.parse(readFileSync(file, "utf8"))
  assert.equal(google.state.refreshTokens.get(stored.refreshToken), "https://www.googleapis.com/auth/gmail.readonly")
  const cloudTokens = [...google.state.accessTokens].filter(([, scope]) => scope.endsWith("cloud-platform"))
  assert.equal(cloudTokens.length, 1)
  const printed = outcome.stdout + outcome.stderr
  const secrets = [pushToken, hooks.token, stored.refreshToken, stored.accessToken, testClient.client_secret]
  for (const secret of [...secrets, cloudTokens[0]?.[0]]) assert.ok(secret && !printed.includes(secret))
  assert.deepEqual(google.state.unexpected, [])
})

test("setup can be repeated: it keeps tokens, comments and other people's rights, and does nothing twice", async (context) => {
  const { clientFile, config, configPath, google, run } = await desk(context)
  const topic = "projects/123456/topics/svc-gmail-watch"
  google.state.topics.set(topic, { name: topic })
  const others = { role: "roles/viewer", members: ["user:ada@example.com"] }
  google.state.policies.set(topic, { bindings: [others] })
  writeFileSync(
    configPath,
    '{\n  hooks: {\n    token: "${HOOK_TOKEN}", // mine\n    gmail: { model: "offline/echo" }, // my model\n  },\n}\n',
  )
  const env = { HOOK_TOKEN: "a-hook-token-of-24-characters" }
  const words = [...setupArguments, "--client-file", clientFile, "--json"]
  const first = await run(words, { env })
  assert.equal(first.code, 0, first.stdout)
  const before = readFileSync(configPath, "utf8")
  const second = await run([...words, "--push-endpoint", "https://new.example.com/push"], { env })
  assert.equal(second.code, 0, second.stdout)
  assert.equal(readFileSync(configPath, "utf8"), before)
  assert.ok(before.includes("${HOOK_TOKEN}") && before.includes("// mine") && before.includes("offline/echo"))
  assert.equal(google.state.count(`PUT /v1/${topic}`), 0)
  assert.equal(google.state.count("POST /v1/projects/123456/serviceAccounts"), 1)
  assert.equal(google.state.count(":setIamPolicy"), 1)
  const bindings = google.state.policies.get(topic)?.["bindings"]
  assert.ok(Array.isArray(bindings) && bindings.length === 2 && JSON.stringify(bindings[0]) === JSON.stringify(others))
  const push = google.state.subscriptions.get("projects/123456/subscriptions/svc-gmail-watch-push")?.["pushConfig"]
  assert.match(JSON.stringify(push), /https:\/\/new\.example\.com\/push\?token=/)
  assert.equal(JSON.parse(second.stdout).account, testAccount)
  assert.throws(config, /HOOK_TOKEN/)
})

test("setup takes a pasted address, and refuses one that is not the answer", async (context) => {
  const { clientFile, google, run, stateFolder } = await desk(context)
  const words = [...setupArguments, "--client-file", clientFile, "--paste", "--no-cloud"]
  const addressOf = (shown: string) => [...shown.matchAll(/^ {2}(http\S+)$/gm)].at(-1)?.[1] ?? ""
  const wrong = await run(words, { prompt: async () => "http://127.0.0.1:1/?state=other&code=4/abc" })
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /does not belong/)
  const denied = await run(words, {
    async prompt(_, shown) {
      const state = new URL(addressOf(shown)).searchParams.get("state")
      return `http://127.0.0.1:1/?state=${state}&error=access_denied`
    },
  })
  assert.match(denied.stderr, /access_denied/)
  assert.equal(existsSync(join(stateFolder, "credentials", "gmail.json")), false)
  const right = await run(words, { prompt: async (_, shown) => await google.consent(addressOf(shown)) })
  assert.equal(right.code, 0, right.stderr)
  assert.equal(google.state.topics.size, 0, "the project is left alone")
})

test("setup refuses another mailbox than the one asked for, and writes nothing then", async (context) => {
  const { clientFile, configPath, run, stateFolder } = await desk(context)
  const words = ["setup", "--account", "other@example.com", "--push-endpoint", endpoint, "--client-file", clientFile]
  const outcome = await run(words)
  assert.equal(outcome.code, 1)
  assert.match(outcome.stderr, /signed in as me@example\.com, not as other@example\.com/)
  assert.ok(!existsSync(configPath) && !existsSync(join(stateFolder, "credentials")))
})

test("setup names what is missing or wrong", async (context) => {
  const { clientFile, run } = await desk(context)
  const problems: [string[], RegExp][] = [
    [["setup", "--push-endpoint", endpoint], /--account/],
    [["setup", "--account", testAccount], /--push-endpoint/],
    [["setup", "--account", testAccount, "--push-endpoint", "http://hooks.example.com/"], /https/],
    [[...setupArguments, "--port", "x"], /--port/],
    [[...setupArguments, "--topic", "x"], /--topic/],
  ]
  for (const [words, message] of problems) {
    const outcome = await run([...words, "--client-file", clientFile])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, message)
  }
  const missing = await run([...setupArguments, "--client-file", "/nonexistent.json"])
  assert.match(missing.stderr, /ENOENT.*\nhint: .*Desktop app.*--client-file/s)
  writeFileSync(clientFile, `{"client_secret":"${testClient.client_secret}"`)
  const damaged = await run([...setupArguments, "--client-file", clientFile])
  assert.ok(damaged.code === 1 && !damaged.stderr.includes(testClient.client_secret))
})

test("setup asks for a client that it is not given, the secret without showing it", async (context) => {
  const { run } = await desk(context)
  const asked: string[] = []
  const outcome = await run([...setupArguments, "--dry-run"], {
    async prompt(question) {
      asked.push(question)
      return /secret/.test(question) ? testClient.client_secret : testClient.client_id
    },
  })
  assert.equal(outcome.code, 0, outcome.stderr)
  assert.deepEqual(asked, ["OAuth client id: ", "OAuth client secret: "])
  assert.ok(outcome.stdout.includes(testClient.client_id))
  assert.ok(!(outcome.stdout + outcome.stderr).includes(testClient.client_secret))
})

test("a dry run of every command prints the calls, makes none, writes nothing and shows no secret", async (context) => {
  const { clientFile, configPath, google, run, stateFolder } = await desk(context)
  const setup = await run([...setupArguments, "--client-file", clientFile, "--dry-run"])
  assert.equal(setup.code, 0, setup.stderr)
  for (const part of [
    "/token",
    "/profile",
    ":batchEnable",
    "PUT",
    ":setIamPolicy",
    "serviceAccounts",
    "pushEndpoint",
    "/watch",
  ]) {
    assert.ok(setup.stdout.includes(part), part)
  }
  assert.match(setup.stderr, /would set hooks\.gmail = .*"pushToken":"\*\*\*"/)
  assert.match(setup.stderr, /would set hooks\.token = "\*\*\*"/)
  assert.match(setup.stdout, /gmail-pubsub\?token=\*\*\*/)
  assert.ok(!(setup.stdout + setup.stderr).includes(testClient.client_secret))
  assert.ok(!existsSync(configPath) && !existsSync(join(stateFolder, "credentials")))
  assert.equal(google.state.calls.length, 0)

  await run([...setupArguments, "--client-file", clientFile])
  const made = google.state.calls.length
  const dry = await run(["run", "--dry-run", "--json"])
  const { calls } = JSON.parse(dry.stdout)
  const paths = calls.map(({ method, url }: { method: string; url: string }) => `${method} ${new URL(url).pathname}`)
  assert.deepEqual(paths, [
    "POST /token",
    "POST /gmail/v1/users/me/watch",
    "GET /gmail/v1/users/me/history",
    "GET /gmail/v1/users/me/messages/%3Cmessage%20id%3E",
    "POST /hooks/gmail",
  ])
  const stop = await run(["stop", "--forget", "--dry-run"])
  assert.match(stop.stdout, /POST \S+\/gmail\/v1\/users\/me\/stop\n.*POST \S+\/revoke \{"token":"\*\*\*"\}/s)
  assert.equal(google.state.calls.length, made)
  assert.ok(existsSync(join(stateFolder, "credentials", "gmail.json")))
})

test("stop tells Gmail, marks it for the gateway, and forgets when asked to", async (context) => {
  const { clientFile, google, run, stateFolder } = await desk(context)
  assert.match((await run(["status"])).stdout, /^state: off$/m)
  await run([...setupArguments, "--client-file", clientFile])
  const status = JSON.parse((await run(["status", "--json"])).stdout)
  assert.deepEqual([status.state, status.signedInAs, status.pushEndpoint], ["registered", testAccount, endpoint])
  const stored = JSON.parse(readFileSync(join(stateFolder, "credentials", "gmail.json"), "utf8"))
  assert.equal((await run(["stop"])).code, 0)
  assert.equal(google.state.count("POST /gmail/v1/users/me/stop"), 1)
  assert.match((await run(["status"])).stdout, /^state: stopped$/m)
  // Google has forgotten the sign-in already: that must not keep the person from forgetting it too.
  google.state.accessTokens.clear()
  google.state.refreshTokens.clear()
  assert.equal((await run(["stop", "--forget"])).code, 0)
  assert.ok(!existsSync(join(stateFolder, "credentials", "gmail.json")))
  assert.equal(google.state.count("POST /revoke"), 1)
  assert.ok(google.state.calls.some(({ body }) => body["token"] === stored.refreshToken))
})

test("run watches in the terminal and posts mails to the gateway until it is stopped", async (context) => {
  const { clientFile, config, google, run, stateFolder } = await desk(context)
  const posts: { authorization: string | undefined; key: string | undefined; body: string }[] = []
  const posted = Promise.withResolvers<void>()
  let refusals = 1
  const gateway = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    // Once away: the batch has to come again.
    response.writeHead(refusals > 0 ? 503 : 202).end("{}")
    refusals -= 1
    const { authorization } = request.headers
    posts.push({
      authorization,
      key: request.headers["idempotency-key"] as string,
      body: Buffer.concat(chunks).toString(),
    })
    if (posts.length === 2) posted.resolve()
  })
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve))
  context.after(() => new Promise((resolve) => gateway.close(resolve)))
  const hookUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/hooks/gmail`
  const free = createServer()
  await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve))
  const port = String((free.address() as AddressInfo).port)
  await new Promise((resolve) => free.close(resolve))
  await run([...setupArguments, "--client-file", clientFile, "--hook-url", hookUrl, "--port", port])
  const pushFile = join(stateFolder, "gmail", "push.json")
  writeFileSync(
    pushFile,
    JSON.stringify({ ...JSON.parse(readFileSync(pushFile, "utf8")), keySetUrl: google.keySetUrl }),
  )

  const stop = new AbortController()
  const read = google.state.next("/history")
  const running = run(["run"], { signal: stop.signal })
  await read
  google.state.mail.add({ subject: "New" })
  const { hooks } = config()
  const address = `http://127.0.0.1:${port}/gmail-pubsub?token=${hooks.gmail?.pushToken}`
  assert.equal((await google.push(address, endpoint)).status, 204)
  await posted.promise
  stop.abort()
  const outcome = await running
  assert.equal(outcome.code, 0, outcome.stderr)
  assert.equal(posts[0]?.key, posts[1]?.key)
  assert.equal(posts[1]?.authorization, `Bearer ${hooks.token}`)
  assert.equal(JSON.parse(posts[1]?.body ?? "{}").messages[0].subject, "New")
  for (const secret of [hooks.token, hooks.gmail?.pushToken]) assert.ok(secret && !outcome.stderr.includes(secret))
})

test("setup with Tailscale needs no address: it opens the funnel, and stop takes it away", async (context) => {
  const { clientFile, config, google, run } = await desk(context)
  const tailscale = installTailscale()
  const env = tailscale.environment
  const words = ["setup", "--account", testAccount, "--client-file", clientFile, "--tailscale", "funnel"]
  const wrong = await run([...words.slice(0, -1), "fnnel"], { env })
  assert.match(wrong.stderr, /--tailscale must be funnel, serve or off/)
  const serveOnly = await run([...words.slice(0, -1), "serve"], { env })
  assert.match(serveOnly.stderr, /Give the public address with --push-endpoint/)
  const dry = await run([...words, "--dry-run"], { env })
  assert.match(dry.stderr, /would run: tailscale funnel --bg --yes --set-path=\/gmail-pubsub http:\/\/127/)
  assert.deepEqual(Object.keys(tailscale.state().paths), ["/gmail-pubsub"], "of `serve`; the dry run did nothing")
  assert.equal(tailscale.state().paths["/gmail-pubsub"]?.public, false)

  const outcome = await run(words, { env })
  assert.equal(outcome.code, 0, outcome.stderr)
  const subscription = google.state.subscriptions.get("projects/123456/subscriptions/svc-gmail-watch-push")
  const { pushToken, tailscale: kept } = config().hooks.gmail ?? {}
  const address = "https://machine.tailnet.ts.net/gmail-pubsub"
  assert.ok(JSON.stringify(subscription?.["pushConfig"]).includes(`"${address}?token=${pushToken}"`))
  assert.deepEqual(kept, { mode: "funnel" })
  assert.equal(tailscale.state().paths["/gmail-pubsub"]?.public, true)
  assert.match((await run(["status"], { env })).stdout, /^tailscale: funnel$/m)

  // Also where Google no longer takes the sign-in, of which the person is told.
  google.state.accessTokens.clear()
  google.state.refreshTokens.clear()
  const stop = await run(["stop"], { env })
  assert.deepEqual([stop.code, tailscale.state().paths], [1, {}])
  assert.match(stop.stderr, /Google does not take the sign-in/)
  assert.match((await run(["status"], { env })).stdout, /^state: stopped$/m)
})
