// The pages of docs/guides/webhooks: what stands there as configuration and as a command must work.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { promisify } from "node:util"
import { silentLog } from "../../test/support/store.ts"
import { systemClock } from "../kernel/index.ts"
import { hookToken, hooksConfig, startHooks } from "./hooks.fixture.ts"
import { createVerifier } from "./verify/index.ts"

const run = promisify(execFile)
const verifier = createVerifier({ clock: systemClock, log: silentLog })

const standardSecret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`
const variables: Record<string, string> = {
  SVC_HOOK_TOKEN: hookToken,
  GITHUB_WEBHOOK_SECRET: "github-secret-of-the-guide",
  GITLAB_WEBHOOK_TOKEN: "gitlab-token-of-the-guide",
  STRIPE_WEBHOOK_SECRET: "whsec_stripe_of_the_guide",
  SLACK_SIGNING_SECRET: "slack-secret-of-the-guide",
  LINEAR_WEBHOOK_SECRET: "linear-secret-of-the-guide",
  SENTRY_CLIENT_SECRET: "sentry-secret-of-the-guide",
  GRAFANA_SECRET: "grafana-secret-of-the-guide",
  STANDARD_WEBHOOK_SECRET: standardSecret,
}

function blocks(page: string, language: string): string[] {
  const text = readFileSync(new URL(`../../docs/guides/webhooks/${page}.md`, import.meta.url), "utf8")
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map((match) => match[1] ?? "")
}

function configOf(block: string): Record<string, unknown> {
  const filled = block.replace(/\$\{(\w+)\}/g, (_whole, name: string) => variables[name] ?? assert.fail(name))
  // JSON5 of these pages is a literal of the language too.
  return (new Function(`return (${filled})`)() as { hooks: Record<string, unknown> }).hooks
}

const pages = {
  github: "Issue #7 of acme/shop opened by ann: It is slow",
  gitlab: "Issue #7 of acme/shop open by Ann: It is slow",
  stripe: "Payment of invoice A-7 of 1500 eur",
  slack: "U1 mentions the app in C1:\n\nIs the build green?",
  linear: "Issue ENG-7 create by Ann: It is slow",
  sentry: "Issue SHOP-7 created in shop: TypeError",
  grafana: "[FIRING:1] High memory",
  alertmanager: "Alerts firing for",
  "standard-webhooks": "order.paid at 2026-01-01T00:00:00Z",
}

for (const [page, text] of Object.entries(pages)) {
  test(`the page of ${page} has a configuration and a curl that work together`, async () => {
    const server = await startHooks(
      { verify: (request, settings) => verifier.verifySignature(request, settings) },
      configOf(blocks(page, "json5")[0] ?? ""),
    )
    try {
      const script = (blocks(page, "sh")[0] ?? "").replaceAll("127.0.0.1:18789", `127.0.0.1:${server.port}`)
      const { stdout } = await run("bash", ["-euc", script], { env: { PATH: process.env["PATH"], ...variables } })
      assert.equal(JSON.parse(stdout).ok, true, stdout)
      const input = JSON.parse(String(server.rows("select payload from job")[0]?.payload))
      assert.ok(input.text.startsWith(text), input.text)
    } finally {
      await server.stop()
    }
  })
}

test("the page of mappings shows configurations that are valid", () => {
  const [whole, transform] = blocks("mappings", "json5")
  hooksConfig(configOf(whole ?? ""))
  hooksConfig({ mappings: [new Function(`return (${transform})`)()] })
})
