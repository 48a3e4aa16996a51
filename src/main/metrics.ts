// What `GET /metrics` tells of this process: the event loop, memory, lost log lines, whether the store accepts.
import type { Metric } from "../gateway/index.ts"
import type { Delays } from "../kernel/index.ts"
import type { Core } from "./core.ts"
import { storeHealth } from "./store-health.ts"

export function metricsOf(core: Core): Metric[] {
  const lost = core.lostLogLines()
  const memory = process.memoryUsage()
  return [
    ...eventLoopMetrics(core),
    {
      name: "process_resident_memory_bytes",
      type: "gauge",
      help: "Resident memory of the process.",
      samples: [{ value: memory.rss }],
    },
    {
      name: "svc_heap_used_bytes",
      type: "gauge",
      help: "Used part of the JavaScript heap.",
      samples: [{ value: memory.heapUsed }],
    },
    {
      name: "svc_heap_size_bytes",
      type: "gauge",
      help: "What the JavaScript heap has of the system, used or not.",
      samples: [{ value: memory.heapTotal }],
    },
    {
      name: "svc_external_memory_bytes",
      type: "gauge",
      help: "What JavaScript objects hold outside of the heap, buffers among it.",
      samples: [{ value: memory.external }],
    },
    {
      name: "svc_log_lines_lost_total",
      type: "counter",
      help: "Log lines that could not be written.",
      samples: [
        { labels: { to: "file" }, value: lost.file },
        { labels: { to: "console" }, value: lost.console },
      ],
    },
    {
      name: "svc_store_accepting",
      type: "gauge",
      help: "1 while the store accepts, 0 while it is full, failing, damaged or lost.",
      samples: [{ value: storeHealth(core).accepting ? 1 : 0 }],
    },
  ]
}

function eventLoopMetrics({ eventLoop }: Core): Metric[] {
  const { delays, work, hangs } = eventLoop.figures()
  const delayed = "How long the event loop kept a timer waiting; looked at fifty times a second."
  const worked = "As much of that delay as the thread itself computed; the rest is a busy machine or a disk."
  return [
    ...histogramOf("svc_event_loop_delay", delays, delayed),
    ...(work ? histogramOf("svc_event_loop_work", work, worked) : []),
    {
      name: "svc_event_loop_hangs_total",
      type: "counter",
      help: "Stretches of more than a quarter of a second; the log has their stacks.",
      samples: [{ value: hangs }],
    },
  ]
}

function histogramOf(name: string, { buckets, count, sumSeconds, maxSeconds }: Delays, help: string): Metric[] {
  return [
    {
      name: `${name}_seconds`,
      type: "histogram",
      help,
      samples: [
        ...buckets.map((bucket) => ({
          suffix: "_bucket",
          labels: { le: String(bucket.seconds) },
          value: bucket.count,
        })),
        { suffix: "_bucket", labels: { le: "+Inf" }, value: count },
        { suffix: "_sum", value: sumSeconds },
        { suffix: "_count", value: count },
      ],
    },
    {
      name: `${name}_max_seconds`,
      type: "gauge",
      help: "The longest of these since the gateway was ready.",
      samples: [{ value: maxSeconds }],
    },
  ]
}
