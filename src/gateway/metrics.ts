// The figures of `GET /metrics`, in the text format of Prometheus.

export interface Metric {
  name: string
  type: "counter" | "gauge" | "histogram"
  help: string
  samples: { suffix?: string; labels?: Record<string, string>; value: number }[]
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8"

export function formatMetrics(metrics: readonly Metric[]): string {
  return metrics.map(formatMetric).join("")
}

function formatMetric({ name, type, help, samples }: Metric): string {
  const lines = samples.map(({ suffix = "", labels, value }) => `${name}${suffix}${formatLabels(labels)} ${value}`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`
}

function formatLabels(labels: Record<string, string> = {}): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, escapeCharacter)}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

function escapeCharacter(character: string): string {
  return character === "\n" ? "\\n" : `\\${character}`
}
