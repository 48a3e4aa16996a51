// Loaded into the process of every test file. One that neither ends nor fails would hold up the whole run without a
// word: it is ended here, and says what kept it alive.
const limitMs = 600_000

setTimeout(() => {
  const alive = process.getActiveResourcesInfo().join(", ")
  process.stderr.write(`this test file has not ended after ${limitMs / 1000} s; still alive: ${alive}\n`)
  process.exit(1)
}, limitMs).unref()
