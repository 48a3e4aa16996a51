// Linear: data change webhooks. One conversation an issue, with its comments.
import type { Preset } from "./preset.ts"

const by = '{{actor.name | before(" by ")}}'

export const linear: Preset = {
  name: "linear",
  scheme: "linear",
  title: 'Linear {{type}} {{action}}{{data.identifier | default(data.issue.identifier) | before(" ")}}',
  sessionKey: "hook:linear:{{data.issue.id | default(data.issueId) | default(data.id)}}",
  event: "{{type}}",
  idFrom: "headers.linear-delivery",
  texts: {
    Issue:
      `Issue {{data.identifier}} {{action}}${by}: {{data.title}}\n{{url}}\nState: {{data.state.name}}{{data.assignee.name | before(", assignee: ")}}{{data.priorityLabel | before(", priority: ")}}` +
      '{{updatedFrom | truncate(500) | before("\\nBefore: ")}}\n\n{{data.description | truncate(4000)}}',
    Comment: `Comment {{action}}${by} on {{data.issue.identifier}} {{data.issue.title}}\n{{url}}\n\n{{data.body | truncate(4000)}}`,
    Project: `Project {{data.name}} {{action}}${by}: {{data.state}}\n{{url}}\n\n{{data.description | truncate(2000)}}`,
    Cycle: `Cycle {{data.number}} {{data.name}} {{action}}${by}: {{data.startsAt}} to {{data.endsAt}}`,
  },
  otherwise: `Linear {{type}} {{action}}${by}\n{{url}}\n\n{{data | json | truncate(4000)}}`,
}
