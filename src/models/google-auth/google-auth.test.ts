import assert from "node:assert/strict"
import { generateKeyPairSync } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, test } from "node:test"
import { jwtVerify } from "jose"
import { ProviderRefusal } from "../providers/contract.ts"
import { type ReplayServer, startReplay } from "../sdk/sdk.fixture.ts"
import { createGoogleTokens, type GoogleTokens } from "./index.ts"

let server: ReplayServer
let folder: string
let now: number
beforeEach(async () => {
  server = await startReplay()
  folder = await mkdtemp(join(tmpdir(), "google-auth-"))
  now = Date.UTC(2026, 0, 1)
})
afterEach(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })

function create(environment: Record<string, string> = {}): GoogleTokens {
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.reject(new Error("nobody waits")) }
  return createGoogleTokens({ clock, environment })
}

const call = () => ({ fetch, signal: new AbortController().signal })
const answer = (token: string) => ({
  headers: { "content-type": "application/json" },
  pieces: [JSON.stringify({ access_token: token, expires_in: 3600, token_type: "Bearer" })],
})

async function write(value: unknown, name = "key.json"): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof value === "string" ? value : JSON.stringify(value))
  return path
}

const serviceAccount = () => ({
  type: "service_account",
  project_id: "project-1",
  private_key_id: "key-1",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  client_email: "agent@example.test",
  token_uri: `${server.origin}/token`,
})

const user = () => ({
  type: "authorized_user",
  client_id: "client-1",
  client_secret: "secret-1",
  refresh_token: "refresh-1",
  quota_project_id: "pays-1",
  token_uri: `${server.origin}/token`,
})

describe("a token of Google's cloud", () => {
  test("is given for an assertion that the service account has signed", async () => {
    server.queue(answer("token-1"))
    const access = await create().access(await write(serviceAccount()), call())
    assert.deepEqual([access.token, access.projectId, access.quotaProjectId], ["token-1", "project-1", undefined])
    const fields = new URLSearchParams(server.last().text)
    assert.equal(fields.get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer")
    const { payload, protectedHeader } = await jwtVerify(fields.get("assertion") ?? "", publicKey, {
      issuer: "agent@example.test",
      audience: `${server.origin}/token`,
      currentDate: new Date(now),
    })
    assert.deepEqual([protectedHeader.alg, protectedHeader.kid], ["RS256", "key-1"])
    assert.equal(payload.scope, "https://www.googleapis.com/auth/cloud-platform")
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3600)
  })

  test("is given for a person's refresh token, with the project that pays", async () => {
    server.queue(answer("token-2"))
    const access = await create({ GOOGLE_APPLICATION_CREDENTIALS: await write(user()) }).access(undefined, call())
    assert.deepEqual([access.token, access.quotaProjectId], ["token-2", "pays-1"])
    assert.deepEqual(Object.fromEntries(new URLSearchParams(server.last().text)), {
      grant_type: "refresh_token",
      client_id: "client-1",
      client_secret: "secret-1",
      refresh_token: "refresh-1",
    })
  })

  test("is given by the machine where no file is named", async () => {
    server.queue({ ...answer("token-3"), headers: { "metadata-flavor": "Google" } })
    const host = new URL(server.origin).host
    const access = await create({ GCE_METADATA_HOST: host }).access(undefined, call())
    assert.equal(access.token, "token-3")
    assert.equal(server.last().path, "/computeMetadata/v1/instance/service-accounts/default/token")
    assert.equal(server.last().headers["metadata-flavor"], "Google")
  })

  test("is used until a minute before it lapses", async () => {
    server.queue(answer("token-1"), answer("token-2"))
    const file = await write(serviceAccount())
    const tokens = create()
    const got = []
    for (const minutes of [0, 58, 2]) {
      now += minutes * 60_000
      got.push((await tokens.access(file, call())).token)
    }
    assert.deepEqual(got, ["token-1", "token-1", "token-2"])
  })

  test("is asked for once, however many wait for it, and one who leaves takes it from nobody", async () => {
    server.queue(answer("token-1"))
    const file = await write(serviceAccount())
    const tokens = create()
    const leaving = new AbortController()
    const first = tokens.access(file, { fetch, signal: leaving.signal })
    const others = [tokens.access(file, call()), tokens.access(file, call())]
    leaving.abort(new Error("enough"))
    await assert.rejects(first, { message: "enough" })
    const got = await Promise.all(others)
    assert.deepEqual(
      got.map(({ token }) => token),
      ["token-1", "token-1"],
    )
    assert.equal(server.requests.length, 1)
  })
})

describe("credentials that do not do", () => {
  test("are told with the next step, and nothing of the file", async () => {
    const files = [
      { path: join(folder, "nowhere.json"), hint: /credentialsFile/ },
      { path: await write("not json: secret-1", "a.json"), hint: /Download/ },
      { path: await write({ type: "external_account", secret: "secret-1" }, "b.json"), hint: /gcloud auth/ },
      { path: await write({ ...user(), client_secret: 7, other: "secret-1" }, "c.json"), hint: /gcloud auth/ },
      { path: await write({ ...serviceAccount(), private_key: "secret-1" }, "d.json"), hint: /Download/ },
    ]
    for (const { path, hint } of files) {
      await assert.rejects(create().access(path, call()), (error) => {
        assert.ok(error instanceof Error)
        assert.doesNotMatch(error.message, /secret-1/)
        const { code, hint: step } = error as { code?: string; hint?: string }
        assert.equal(code, "model-key-missing")
        assert.match(step ?? "", hint)
        return true
      })
    }
  })

  test("are refused for good by a 4xx, and asked again after a 5xx", async () => {
    const file = await write(user())
    const tokens = create()
    server.queue({ status: 400, pieces: ['{"error":"invalid_grant","error_description":"Token has been revoked."}'] })
    await assert.rejects(tokens.access(file, call()), { code: "model-key-missing", message: /invalid_grant/ })
    server.queue({ status: 503, pieces: ["busy"] }, answer("token-1"))
    await assert.rejects(tokens.access(file, call()), (error) => error instanceof ProviderRefusal)
    assert.equal((await tokens.access(file, call())).token, "token-1")
  })

  test("are told when the answer has no token", async () => {
    server.queue({ pieces: ["{}"] })
    await assert.rejects(create().access(await write(user()), call()), { code: "model-failed" })
  })

  test("are asked for where neither a file nor the cloud's machine is", async () => {
    const gone = await startReplay()
    await gone.stop()
    for (const host of [new URL(gone.origin).host, new URL(server.origin).host]) {
      server.queue({ headers: {}, pieces: ["a router's page"] })
      await assert.rejects(create({ GCE_METADATA_HOST: host }).access(undefined, call()), {
        code: "model-key-missing",
        hint: /credentialsFile/,
      })
    }
  })
})
