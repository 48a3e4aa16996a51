// GitLab: project and group webhooks. One conversation an issue or merge request, else a branch or project.
import type { Preset } from "./preset.ts"

const project = '{{project.path_with_namespace | default("group")}}'
const by = '{{user.name | default(user_name) | before(" by ")}}'
const item = "{{object_attributes.iid}}"

export const gitlab: Preset = {
  name: "gitlab",
  scheme: "gitlab",
  title: 'GitLab {{object_kind | default(event_name)}}{{project.path_with_namespace | before(" in ")}}',
  sessionKey: `hook:gitlab:${project}:{{ref | default("all") | hash}}`,
  event: "{{object_kind}}",
  // Event ids are shared by events that caused each other; this one is a delivery's own.
  idFrom: "headers.idempotency-key",
  texts: {
    push: `Push to {{ref}} of ${project}${by}, {{total_commits_count}} commits\n{{commits | each("- {title} ({author.name}, {id})", 20)}}`,
    tag_push: `Tag {{ref}} of ${project} pushed${by}`,
    issue: {
      message: `Issue #${item} of ${project} {{object_attributes.action | default("changed")}}${by}: {{object_attributes.title}}\n{{object_attributes.url}}\n\n{{object_attributes.description | truncate(4000)}}`,
      sessionKey: `hook:gitlab:${project}:issue:${item}`,
    },
    merge_request: {
      message: `Merge request !${item} of ${project} {{object_attributes.action | default("changed")}}${by}: {{object_attributes.title}}\n{{object_attributes.url}}\n{{object_attributes.source_branch}} into {{object_attributes.target_branch}}, {{object_attributes.state}}\n\n{{object_attributes.description | truncate(4000)}}`,
      sessionKey: `hook:gitlab:${project}:merge:${item}`,
    },
    note: {
      message: `Comment${by} on {{object_attributes.noteable_type}} of ${project}{{issue.title | default(merge_request.title) | default(commit.title) | before(": ")}}\n{{object_attributes.url}}\n\n{{object_attributes.note | truncate(4000)}}`,
      sessionKey: `hook:gitlab:${project}:{{object_attributes.noteable_type | default("note") | hash}}:{{issue.iid | default(merge_request.iid) | default(commit.id) | default(snippet.id)}}`,
    },
    pipeline: `Pipeline {{object_attributes.id}} of ${project} on {{object_attributes.ref}}: {{object_attributes.status}}\n{{object_attributes.url}}\n{{builds | each("- {stage} {name}: {status}", 30)}}`,
    build: `Job {{build_name}} ({{build_stage}}) of ${project}: {{build_status}}`,
    release: `Release {{tag}} of ${project} {{action}}: {{name}}\n{{url}}\n\n{{description | truncate(4000)}}`,
    deployment: `Deployment of ${project} to {{environment}}: {{status}}\n{{deployable_url}}`,
  },
  otherwise: `GitLab event {{object_kind | default(event_name)}} in ${project}${by}\n\n{{payload | json | truncate(4000)}}`,
}
