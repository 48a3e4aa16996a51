// A run as one page that needs nothing else: a chart for each thing that was sampled, drawn in SVG, and the verdicts.
import type { MixedRun, Sample } from "./mixed.ts"
import type { Row } from "./table.ts"

const width = 720
const height = 150
const margin = { left: 60, right: 26, top: 10, bottom: 24 }

interface Line {
  name: string
  value: (sample: Sample) => number
}

interface Chart {
  title: string
  unit: string
  lines: readonly Line[]
}

const eventLoop: Chart = {
  title: "Event loop, by /metrics",
  unit: "ms",
  lines: [
    { name: "longest stretch so far", value: (sample) => sample.loop?.maxMs ?? 0 },
    { name: "longest of its own work", value: (sample) => sample.loop?.work.maxMs ?? 0 },
  ],
}

const charts: readonly Chart[] = [
  {
    title: "Memory",
    unit: "MB",
    lines: [
      { name: "resident", value: (sample) => sample.memoryMb },
      { name: "JavaScript heap in use", value: (sample) => sample.loop?.heapMb ?? 0 },
    ],
  },
  {
    title: "Handles and threads",
    unit: "",
    lines: [
      { name: "handles", value: (sample) => sample.handles },
      { name: "threads", value: (sample) => sample.threads },
    ],
  },
  {
    title: "/healthz",
    unit: "ms",
    lines: [
      { name: "p50", value: (sample) => sample.health.p50 },
      { name: "p99", value: (sample) => sample.health.p99 },
      { name: "longest", value: (sample) => sample.health.max },
    ],
  },
  eventLoop,
  {
    title: "Answers: how long people waited",
    unit: "s",
    lines: [{ name: "p99", value: (sample) => sample.answerP99 / 1000 }],
  },
  {
    title: "Open work",
    unit: "",
    lines: [
      { name: "jobs and messages", value: (sample) => sample.openWork },
      { name: "age of the oldest (s)", value: (sample) => sample.oldestSeconds },
    ],
  },
  {
    title: "Files",
    unit: "MB",
    lines: [
      { name: "database", value: (sample) => sample.databaseMb },
      { name: "log", value: (sample) => sample.logMb },
      { name: "media", value: (sample) => sample.filesMb },
    ],
  },
  { title: "Browser", unit: "actions", lines: [{ name: "in this sample", value: (sample) => sample.browserActions }] },
]

const colours = ["#1f6feb", "#d1492e", "#2f8f46"]

export function renderPage(run: MixedRun, verdicts: readonly Row[]): string {
  const rows = verdicts.map(
    ({ what, target, measured, met }) =>
      `<tr class="${met ? "met" : "missed"}"><td>${escape(what)}</td><td>${escape(target)}</td><td>${escape(measured)}</td><td>${met ? "yes" : "NO"}</td></tr>`,
  )
  const title = `Soak: ${run.minutes} minutes, ${run.people} people`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 800px; padding: 0 1em; color: #1c1c1c }
h2 { font-size: 1em; margin: 1.6em 0 .2em } table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid #ddd; padding: .35em .5em; text-align: left; vertical-align: top }
.missed { background: #fdecea } .legend { font-size: 12px } svg { display: block; width: 100%; height: auto }
</style></head><body><h1>${title}</h1>
<table><tr><th>what</th><th>target</th><th>measured</th><th>met</th></tr>
${rows.join("\n")}
</table>
${chartsOf(run)
  .map((chart) => renderChart(chart, run.samples))
  .join("\n")}
</body></html>
`
}

/** Nothing is drawn of what the gateway does not tell. */
function chartsOf({ samples }: MixedRun): readonly Chart[] {
  const isTold = samples.some(({ loop }) => loop !== undefined)
  return charts.filter((chart) => isTold || chart !== eventLoop)
}

function renderChart({ title, unit, lines }: Chart, samples: readonly Sample[]): string {
  const end = Math.max(1, samples.at(-1)?.seconds ?? 1)
  const top = niceTop(Math.max(0, ...samples.flatMap((sample) => lines.map(({ value }) => value(sample)))))
  const x = (seconds: number) => margin.left + (seconds / end) * (width - margin.left - margin.right)
  const y = (value: number) => height - margin.bottom - (value / top) * (height - margin.top - margin.bottom)
  const grid = [0, 0.5, 1].map((share) => {
    const level = y(top * share)
    const label = `${Number((top * share).toPrecision(3))} ${unit}`
    return `<line x1="${margin.left}" x2="${width - margin.right}" y1="${level}" y2="${level}" stroke="#e3e3e3"/><text x="${margin.left - 6}" y="${level + 4}" text-anchor="end">${label}</text>`
  })
  const minutes = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<text x="${x(end * share)}" y="${height - 6}" text-anchor="middle">${((end * share) / 60).toFixed(1)} min</text>`,
  )
  const paths = lines.map(({ value }, index) => {
    const points = samples.map((sample) => `${x(sample.seconds).toFixed(1)},${y(value(sample)).toFixed(1)}`)
    return `<polyline fill="none" stroke="${colours[index]}" stroke-width="1.5" points="${points.join(" ")}"/>`
  })
  const legend = lines.map(({ name }, index) => `<span style="color:${colours[index]}">&#9632;</span> ${escape(name)}`)
  return `<h2>${escape(title)}</h2><div class="legend">${legend.join(" &nbsp; ")}</div>
<svg viewBox="0 0 ${width} ${height}" font-size="10" fill="#555" role="img" aria-label="${escape(title)}">${[...grid, ...minutes, ...paths].join("")}</svg>`
}

/** The next of 1, 2 or 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
}
