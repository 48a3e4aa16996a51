// Grafana and Alertmanager: groups of alerts that fire or are resolved. One conversation a group.
import type { Preset } from "./preset.ts"

const alerts =
  '{{alerts | each("- [{status}] {labels.alertname} {labels.instance} since {startsAt}: {annotations.summary} {annotations.description} {generatorURL}", 30)}}'

export const alertmanager: Preset = {
  name: "alertmanager",
  scheme: undefined,
  title: 'Alerts {{status}}{{commonLabels.alertname | before(": ")}}',
  sessionKey: "hook:alertmanager:{{groupKey | hash}}",
  otherwise: `Alerts {{status}} for {{groupLabels | json | truncate(500)}} (receiver {{receiver}})\n${alerts}\n{{externalURL}}`,
}

export const grafana: Preset = {
  name: "grafana",
  // Grafana signs only when told to, with a header of one's choice: `hmac-sha256`.
  scheme: "hmac-sha256",
  title: 'Grafana {{status}}{{commonLabels.alertname | before(": ")}}',
  sessionKey: "hook:grafana:{{groupKey | hash}}",
  otherwise: `{{title | default("Grafana alert")}}\nStatus {{status}}, receiver {{receiver}}\n${alerts}\n{{message | truncate(2000)}}\n{{externalURL}}`,
}
