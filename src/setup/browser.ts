// Question 3: may the agent use a browser? Checked by starting it once, with an empty profile that is removed again.
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tryBrowser } from "../browser/try-start.ts"
import type { ConfigSnapshot } from "../config/index.ts"
import { AppError, isJsonObject } from "../kernel/index.ts"
import type { Answer, Change } from "./settings.ts"
import { type Step, type StepContext, confirm, tellWrong } from "./step.ts"

export const browserStep: Step = {
  name: "browser",
  title: "Browser",
  flags: "--browser <yes|no|path>",
  isGiven: ({ browser, noSandbox }) => browser !== undefined || noSandbox !== undefined,
  current({ source, config }) {
    const { browser } = source
    if (!isJsonObject(browser) || Object.keys(browser).length === 0) return undefined
    if (!config.browser.enabled) return "none"
    const { executablePath, defaultProfile } = config.browser
    return `profile ${defaultProfile}${executablePath === undefined ? "" : `, ${executablePath}`}`
  },
  applies: () => true,
  run: chooseBrowser,
}

async function chooseBrowser(context: StepContext): Promise<string> {
  const { settings, answers, conversation, say } = context
  let given: string | undefined = answers.browser ?? (answers.noSandbox === undefined ? undefined : "yes")
  let noSandbox = answers.noSandbox ?? settings.read().config.browser.noSandbox
  for (;;) {
    const text =
      given ?? (await conversation?.ask("May the agent use a browser of its own? [Y/n, or the path of one] "))
    given = undefined
    if (text === undefined) throw new AppError("bad-request", `The browser is not settled: pass ${browserStep.flags}`)
    if (/^(n|no)$/i.test(text)) {
      settings.write({ config: [{ key: ["browser", "enabled"], value: false }], variables: {} })
      return "none"
    }
    const path = /^(|y|yes)$/i.test(text) ? undefined : text
    if (path !== undefined && !existsSync(path)) {
      const hint = "Answer y, n, or the whole path of a Chrome or Chromium"
      tellWrong(context, new AppError("bad-request", `There is no browser at ${JSON.stringify(path)}`, { hint }))
      continue
    }
    if (process.getuid?.() === 0 && !noSandbox) {
      if (conversation) say("  You are root, and Chromium refuses to run as root with its sandbox.")
      if (conversation) say("  Without it a page that breaks out of the browser has the rights of this gateway.")
      noSandbox = await confirm(context, "  Start it without its sandbox?", false)
      if (!noSandbox) {
        const hint = "Run svc as an ordinary user; or pass --no-browser-sandbox, or --browser no"
        tellWrong(
          context,
          new AppError("browser-start-failed", "As root the browser runs without its sandbox only", { hint }),
        )
        continue
      }
    }
    try {
      return await tryAndWrite(context, answerFor(settings.read(), { path, noSandbox }))
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "aborted") throw error
      tellWrong(context, error)
    }
  }
}

async function tryAndWrite({ settings, say, signal }: StepContext, answer: Answer): Promise<string> {
  const { config, environment } = settings.preview(answer)
  const { executablePath, noSandbox } = config.browser
  say("  starting it once ...")
  const folder = mkdtempSync(join(tmpdir(), "svc-browser-"))
  try {
    const found = await tryBrowser({
      executablePath,
      noSandbox,
      folder,
      home: environment.home,
      variables: environment.variables,
      signal,
    })
    settings.write(answer)
    say(`  ${found.version} works (${found.path})`)
    return found.version
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function answerFor(snapshot: ConfigSnapshot, chosen: { path: string | undefined; noSandbox: boolean }): Answer {
  const { browser } = snapshot.config
  const changes: Change[] = [
    ...(browser.enabled ? [] : [{ key: ["browser", "enabled"], value: undefined }]),
    // A profile of their own choice stays.
    ...(browser.defaultProfile === "relay" ? [{ key: ["browser", "defaultProfile"], value: "managed" }] : []),
    ...(chosen.path === undefined ? [] : [{ key: ["browser", "executablePath"], value: chosen.path }]),
    ...(chosen.noSandbox && !browser.noSandbox ? [{ key: ["browser", "noSandbox"], value: true }] : []),
  ]
  return { config: changes, variables: {} }
}
