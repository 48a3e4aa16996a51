// `npm run gallery -- --names [<page> ...]`: roles and names of everything on the pages that can be acted on, beside those
// that the browser computes for screen readers, and why they differ where they do.
import { writeSection } from "../../bench/document.ts"
import { startBrowserBench } from "../support/browser-service.ts"
import { type Compared, compareNames, explain, explanations, isControl, isSame } from "../support/compare-names.ts"
import { freePort } from "../support/gateway.ts"

const print = (line: string) => void process.stdout.write(`${line}\n`)
/** A page is given so long to show something that can be acted on. */
const settleMs = 10_000

export async function compareGallery(url: string, pages: readonly string[], isWhole: boolean): Promise<void> {
  // The judge has a connection of its own.
  const bench = await startBrowserBench({ profiles: { managed: { driver: "managed", cdpPort: await freePort() } } })
  const all: Compared[] = []
  try {
    for (const page of pages) {
      const { targetId } = (await bench.call("POST", "/navigate", { url: `${url}/page/${page}` })).body
      const until = performance.now() + settleMs
      let compared: Compared[] = []
      while (compared.length === 0 && performance.now() < until) compared = await compareNames(bench, targetId)
      all.push(...compared)
      print(`${page}: ${compared.filter(isSame).length} of ${compared.length} the same`)
    }
  } finally {
    await bench.stop()
  }
  const others = all.filter((each) => !isSame(each))
  const counts = Map.groupBy(others, (each) => explain(each) ?? "unexplained")
  for (const [name, each] of counts) print(`${name}: ${each.length}`)
  for (const { role, name, browser } of counts.get("unexplained") ?? [])
    print(`UNEXPLAINED ${role} ${JSON.stringify(name)}: the browser has ${JSON.stringify(browser)}`)
  if (isWhole) writeSection("names", table(all, counts, pages.length), "decisions/accessible-names.md")
}

function table(all: readonly Compared[], counts: ReadonlyMap<string, Compared[]>, pages: number): string {
  const isMeant = (each: Compared) => explanations[explain(each) ?? ""]?.meant === true
  const sayShare = (of: readonly Compared[]) => {
    const same = of.filter(isSame).length
    const meant = of.filter((each) => !isSame(each) && isMeant(each)).length
    const share = (100 * same) / Math.max(1, of.length - meant)
    return `${same} of ${of.length} are the same, ${meant} differ on purpose, ${of.length - same - meant} otherwise (without those on purpose ${share.toFixed(1)} % the same)`
  }
  const rows = Object.entries(explanations).map(
    ([name, { why, meant }]) => `| ${name} | ${counts.get(name)?.length ?? 0} | ${meant ? "yes" : "no"} | ${why} |`,
  )
  const controls = all.filter(isControl)
  const parts = all.filter((each) => !isControl(each))
  return `Written by \`npm run gallery -- --names\` (${new Date().toISOString().slice(0, 10)}): what can be acted on, on ${pages} pages of the gallery as they open.

- Controls: ${sayShare(controls)}.
- Parts of tables and lists that have refs, and plain elements that take clicks, of which the role alone is compared: ${sayShare(parts)}.
- Without an explanation: ${counts.get("unexplained")?.length ?? 0}.

| class | elements | on purpose | why |
|---|---|---|---|
${rows.join("\n")}`
}
