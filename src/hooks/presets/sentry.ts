// Sentry: webhooks of an integration. One conversation an issue or metric alert.
import type { Preset } from "./preset.ts"

export const sentry: Preset = {
  name: "sentry",
  scheme: "sentry",
  title: "Sentry {{headers.sentry-hook-resource}} {{action}}",
  sessionKey:
    'hook:sentry:{{data.issue.id | default(data.event.issue_id) | default(data.error.issue_id) | default(data.metric_alert.id) | default(data.issue_id) | default("all")}}',
  event: "{{headers.sentry-hook-resource}}",
  idFrom: "headers.request-id",
  ignored: ["installation"],
  texts: {
    issue:
      "Issue {{data.issue.shortId}} {{action}} in {{data.issue.project.slug}}: {{data.issue.title}}\n{{data.issue.web_url | default(data.issue.permalink)}}\nLevel {{data.issue.level}}, {{data.issue.count}} events, {{data.issue.userCount}} users\n{{data.issue.culprit}}",
    error:
      "Error in {{data.error.project}}: {{data.error.title}}\n{{data.error.web_url}}\nLevel {{data.error.level}}\n{{data.error.culprit}}",
    event_alert:
      'Alert rule {{data.triggered_rule}}: {{data.event.title}}\n{{data.event.web_url}}\nLevel {{data.event.level}}{{data.event.environment | before(", environment ")}}\n{{data.event.culprit}}',
    metric_alert: "Metric alert {{action}}: {{data.description_title}}\n{{data.description_text}}\n{{data.web_url}}",
    comment:
      "Comment {{action}} by {{actor.name}} on an issue of {{data.project_slug}}\n\n{{data.comment | truncate(4000)}}",
  },
  otherwise: "Sentry {{headers.sentry-hook-resource}} {{action}}\n\n{{data | json | truncate(4000)}}",
}
