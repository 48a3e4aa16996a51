import assert from "node:assert/strict"
import { test } from "node:test"
import { formatMetrics } from "./metrics.ts"

test("figures stand in the text format, labels escaped", () => {
  const text = formatMetrics([
    { name: "svc_up", type: "gauge", help: "Whether it works.", samples: [{ value: 1 }] },
    {
      name: "svc_wait",
      type: "histogram",
      help: "Waits.",
      samples: [
        { suffix: "_bucket", labels: { le: "0.1", lane: 'a"b\\c\nd' }, value: 2 },
        { suffix: "_sum", value: 0.5 },
      ],
    },
  ])
  assert.equal(
    text,
    "# HELP svc_up Whether it works.\n# TYPE svc_up gauge\nsvc_up 1\n" +
      '# HELP svc_wait Waits.\n# TYPE svc_wait histogram\nsvc_wait_bucket{le="0.1",lane="a\\"b\\\\c\\nd"} 2\nsvc_wait_sum 0.5\n',
  )
})
