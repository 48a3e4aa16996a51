import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { after, afterEach, before, describe, test } from "node:test"
import { hookPresets } from "../config.ts"
import { startHooks } from "../hooks.fixture.ts"
import { verifySchemes } from "../verify/index.ts"
import { presets } from "./index.ts"

interface Recorded {
  headers?: Record<string, string>
  body: Record<string, unknown>
  /** Beginning of the session key, and a part of the text, that are expected. */
  session: string
  text: string
}

const fixture = (name: string): Recorded[] =>
  JSON.parse(readFileSync(new URL(`../../../test/fixtures/webhooks/${name}.json`, import.meta.url), "utf8"))

interface GithubExample {
  name: string
  examples: Record<string, unknown>[]
}
const githubExamples = createRequire(import.meta.url)("@octokit/webhooks-examples") as
  | GithubExample[]
  | { default: GithubExample[] }
const github = (Array.isArray(githubExamples) ? githubExamples : githubExamples.default).flatMap(({ name, examples }) =>
  examples.map((body, index) => ({ name, index, body })),
)

let server: Awaited<ReturnType<typeof startHooks>>
before(async () => {
  server = await startHooks({}, { presets: [...hookPresets, "unheard-of"] })
})
after(() => server.stop())
afterEach(() => {
  for (const table of ["event", "job", "inbox", "hook_delivery"]) server.rows(`delete from ${table}`)
})
const inputs = () => server.rows("select payload from job order by id").map((row) => JSON.parse(String(row.payload)))

describe("every preset", () => {
  test("has its own name as its path, and names a scheme that exists", () => {
    for (const name of hookPresets) {
      assert.equal(presets[name].name, name)
      const { scheme } = presets[name]
      assert.ok(scheme === undefined || verifySchemes.includes(scheme), name)
    }
    assert.equal(server.hooks.path(), "/hooks")
    assert.match(server.logged(), /"unheard-of".*hook presets unknown/)
  })

  for (const name of hookPresets.filter((preset) => preset !== "github")) {
    test(`${name}: makes the text and session of recorded payloads`, async () => {
      for (const { headers = {}, body, session, text } of fixture(name)) {
        const answer = await server.post(`/hooks/${name}`, body, headers)
        assert.equal(answer.status, 202, answer.text)
        const count = (answer.json.runIds ?? [answer.json.runId]).length
        const input = inputs().at(-count)
        assert.ok(input.sessionKey.startsWith(`agent:main:${session}`), input.sessionKey)
        assert.ok(input.text.includes(text), input.text)
        assert.deepEqual([input.trusted, input.wrap], [false, undefined])
        assert.ok(!/\{\{|undefined|\[object/.test(input.text), input.text)
      }
    })
  }

  for (const name of hookPresets) {
    test(`${name}: takes a burst of 100 payloads, each once, in order within its conversation`, async () => {
      const [recorded] = name === "github" ? [{ headers: { "x-github-event": "star" }, body: {} }] : fixture(name)
      const send = (n: number) => {
        const headers = {
          ...recorded?.headers,
          "request-id": `r${n}`,
          "linear-delivery": `d${n}`,
          "webhook-id": `m${n}`,
          "x-github-delivery": `g${n}`,
        }
        const body = { ...recorded?.body, id: `evt_${n}`, event_id: `Ev${n}` }
        return server.post(`/hooks/${name}`, body, headers)
      }
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => send(n)))
      assert.ok(answers.every((answer) => answer.status === 202 && answer.json.duplicate === undefined))
      const runs = answers.flatMap((answer) => answer.json.runIds ?? [answer.json.runId])
      assert.equal(new Set(runs).size, runs.length)
      assert.equal(inputs().length, runs.length)
      assert.equal(server.rows("select id from hook_delivery where verdict = 'accepted'").length, 100)
    })
  }
})

describe("the github preset", () => {
  test("makes a readable text of each recorded event", async () => {
    for (const { name, index, body } of github) {
      const answer = await server.post("/hooks/github", body, {
        "x-github-event": name,
        "x-github-delivery": `${name}-${index}`,
      })
      if (name === "ping") {
        assert.equal(answer.status, 204)
        continue
      }
      assert.equal(answer.status, 202, `${name} ${index}: ${answer.text}`)
      const { text, sessionKey } = inputs().at(-1)
      assert.ok(text.length > 10 && text.length < 10_000, `${name} ${index}: ${text}`)
      assert.ok(!/\{\{|undefined|\[object/.test(text.split("\n")[0]), `${name} ${index}: ${text}`)
      assert.match(sessionKey, /^agent:main:hook:github:/)
    }
  })

  test("keeps an issue, its comments and its pull request in one conversation", async () => {
    const of = (name: string) => github.find((entry) => entry.name === name)?.body
    for (const name of ["issues", "issue_comment", "pull_request", "push"]) {
      await server.post("/hooks/github", of(name), { "x-github-event": name })
    }
    const keys = inputs().map((input) => input.sessionKey)
    assert.match(keys[0], /^agent:main:hook:github:codertocat\/hello-world:\d+$/)
    assert.match(keys[1], /^agent:main:hook:github:codertocat\/hello-world:\d+$/)
    assert.match(keys[2], /^agent:main:hook:github:codertocat\/hello-world:\d+$/)
    assert.match(keys[3], /^agent:main:hook:github:codertocat\/hello-world:[0-9a-f]{16}$/)
    assert.match(inputs()[0].text, /^Issue #\d+ of Codertocat\/Hello-World \w+ by Codertocat: /)
  })

  test("takes single keys from a mapping that names it, under a path of its choice", async () => {
    server.configure({
      mappings: [{ preset: "github", id: "acme", match: { path: "acme" }, deliver: false, name: "Acme" }],
    })
    const body = { action: "created", repository: { full_name: "a/b" }, sender: { login: "ann" } }
    await server.post("/hooks/acme", body, { "x-github-event": "star" })
    const [input] = inputs()
    assert.deepEqual([input.route, input.hook.name, input.text], [null, "Acme", "Star of a/b created by ann"])
    assert.equal(server.rows("select mapping from hook_delivery")[0]?.mapping, "acme")
  })
})

test("gmail: runs a mail with the agent's own model where hooks.gmail.model cannot be had", async () => {
  const mail = { messages: [{ id: "m1", from: "a@example.com", subject: "s", snippet: "", body: "" }] }
  const modelOf = async (change: object) => {
    server.configure({ presets: ["gmail"], mappings: [], ...change })
    const answer = await server.post("/hooks/gmail", mail)
    return answer.status === 202 ? inputs().at(-1).model : answer.status
  }
  const [good, gone] = ["offline/commander", "offline/gone"]
  assert.equal(await modelOf({ gmail: { model: good } }), good)
  assert.equal(await modelOf({ gmail: { model: gone } }), undefined)
  const asked = (model: string) => ({ mappings: [{ preset: "gmail", model }], gmail: { model: good } })
  assert.equal(await modelOf(asked("{{item.none}}")), good)
  assert.equal(await modelOf(asked(gone)), 400, "a model that a mapping asks for is had or refused")
})

test("a preset takes what has an id that no session key can hold, each in a conversation of its own", async () => {
  server.configure({ presets: [...hookPresets], mappings: [] })
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await server.post(path, body, headers)
    assert.equal(answer.status, 202, answer.text)
    return String(inputs().at(-1).sessionKey)
  }
  const plan = (id: string) => post("/hooks/stripe", { type: "plan.updated", data: { object: { id } } })
  const keys = [await plan("Gold Special"), await plan("Gold Special"), await plan("25% off"), await plan("agent:x")]
  for (const key of keys) assert.match(key, /^agent:main:hook:stripe:[0-9a-f]{16}$|^agent:main:hook:stripe:agent:x$/)
  assert.equal(keys[0], keys[1])
  assert.equal(new Set(keys).size, 3)
  const star = { action: "created", repository: { full_name: "acme/a..b" } }
  assert.match(await post("/hooks/github", star, { "x-github-event": "star" }), /^agent:main:hook:github:[0-9a-f]{16}$/)
})
