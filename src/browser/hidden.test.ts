// What was filled in is hidden in whatever form pages and programs write it, in answers and in errors.
import assert from "node:assert/strict"
import { test } from "node:test"
import { AppError } from "../kernel/index.ts"
import { Hidden, hideIn } from "./secrets.ts"

const secret = 'Möhren & "Erbsen" <42>?'
const forms = [
  secret,
  "Möhren &amp; &quot;Erbsen&quot; &lt;42&gt;?",
  encodeURIComponent(secret),
  new URLSearchParams([["a", secret]]).toString().slice(2),
  JSON.stringify(secret),
  Buffer.from(secret).toString("base64"),
]
/** Long enough to be told apart from words that say nothing. */
const pieces = ["Erbsen", Buffer.from(secret).toString("base64").slice(4, 16)]

function hiding() {
  const hidden = new Hidden()
  hidden.add(secret)
  hidden.add(secret)
  return hidden
}

const showsNothing = (shown: string) => {
  for (const piece of pieces) assert.ok(!shown.includes(piece), shown)
}

test("in every form, and once though it was filled in twice; what is too short to be one stays", () => {
  const hidden = hiding()
  assert.deepEqual([hidden.values, hidden.isEmpty, new Hidden().isEmpty], [[secret], false, true])
  for (const form of forms) {
    const shown = hidden.hide(`before ${form} after`)
    showsNothing(shown)
    assert.match(shown, /^before .* after$/, form)
  }
  hidden.add("12345")
  assert.equal(hidden.hide("room 12345"), "room 12345")
})

test("in what operations answer and throw, and in names of fields, but for pictures", async () => {
  const hidden = hiding()
  const bytes = Buffer.from(secret).toString("base64")
  const answer = { list: [secret, { [secret]: 1 }], n: 5, none: null, at: new Date(0), data: bytes }
  const fails = () => {
    throw new AppError("timeout", `Waited for ${secret}`, { hint: `Not ${secret}` })
  }
  const operations = hideIn(
    {
      later: async () => answer,
      now: () => answer,
      words: () => secret,
      fails,
      failsLater: async () => fails(),
      name: "no operation",
    },
    hidden,
  )
  for (const shown of [await operations.later(), operations.now()]) {
    showsNothing(JSON.stringify({ ...shown, data: "" }))
    assert.deepEqual([shown.n, shown.none, shown.at, shown.data], [5, null, new Date(0), bytes])
  }
  showsNothing(operations.words())
  for (const run of [async () => operations.fails(), operations.failsLater]) {
    await assert.rejects(run, (error: AppError) => {
      showsNothing(`${error.message} ${error.hint}`)
      assert.match(`${error.message} ${error.hint}`, /^Waited for .* Not /)
      return error.code === "timeout"
    })
  }
  assert.equal(operations.name, "no operation")
})

test("changes nothing where nothing was filled in", async () => {
  const answer = { text: secret }
  const error = new AppError("timeout", secret)
  const operations = hideIn({ later: async () => answer, fails: () => Promise.reject(error) }, new Hidden())
  assert.equal(await operations.later(), answer)
  await assert.rejects(operations.fails(), (thrown) => thrown === error)
})
