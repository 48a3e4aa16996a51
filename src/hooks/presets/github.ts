// GitHub: repository and organisation webhooks. One conversation an issue, pull request or discussion, else a repository.
import type { Preset } from "./preset.ts"

const repository = '{{repository.full_name | default(organization.login) | default("account")}}'
const by = '{{sender.login | before(" by ")}}'
const body = "{{comment.body | truncate(4000)}}"

export const github: Preset = {
  name: "github",
  scheme: "github",
  title: 'GitHub {{headers.x-github-event}}{{action | before(" ")}}{{repository.full_name | before(" in ")}}',
  sessionKey: `hook:github:${repository}:{{issue.number | default(pull_request.number) | default(discussion.number) | default("all")}}`,
  event: "{{headers.x-github-event}}",
  idFrom: "headers.x-github-delivery",
  ignored: ["ping"],
  texts: {
    push: {
      message: `Push to {{ref}} of ${repository}${by}: {{compare}}\n{{commits | each("- {message} ({author.name}, {id})", 20)}}`,
      sessionKey: `hook:github:${repository}:{{ref | hash}}`,
    },
    issues: `Issue #{{issue.number}} of ${repository} {{action}}${by}: {{issue.title}}\n{{issue.html_url}}{{label.name | before("\\nLabel: ")}}{{assignee.login | before("\\nAssignee: ")}}\n\n{{issue.body | truncate(4000)}}`,
    issue_comment: `Comment {{action}}${by} on #{{issue.number}} of ${repository} ({{issue.title}})\n{{comment.html_url}}\n\n${body}`,
    pull_request: `Pull request #{{pull_request.number}} of ${repository} {{action}}${by}: {{pull_request.title}}\n{{pull_request.html_url}}\n{{pull_request.head.label}} into {{pull_request.base.label}}, merged: {{pull_request.merged}}\n\n{{pull_request.body | truncate(4000)}}`,
    pull_request_review: `Review {{action}}${by} of #{{pull_request.number}} of ${repository}: {{review.state}} ({{pull_request.title}})\n{{review.html_url}}\n\n{{review.body | truncate(4000)}}`,
    pull_request_review_comment: `Review comment {{action}}${by} on {{comment.path}} in #{{pull_request.number}} of ${repository}\n{{comment.html_url}}\n\n${body}`,
    discussion: `Discussion #{{discussion.number}} of ${repository} {{action}}${by}: {{discussion.title}}\n{{discussion.html_url}}\n\n{{discussion.body | truncate(4000)}}`,
    discussion_comment: `Comment {{action}}${by} in discussion #{{discussion.number}} of ${repository} ({{discussion.title}})\n{{comment.html_url}}\n\n${body}`,
    commit_comment: `Comment {{action}}${by} on commit {{comment.commit_id}} of ${repository}\n{{comment.html_url}}\n\n${body}`,
    release: `Release {{release.tag_name}} of ${repository} {{action}}${by}: {{release.name}}\n{{release.html_url}}\n\n{{release.body | truncate(4000)}}`,
    workflow_run: `Workflow {{workflow_run.name}} of ${repository} {{action}}: {{workflow_run.conclusion | default(workflow_run.status)}} on {{workflow_run.head_branch}}\n{{workflow_run.html_url}}`,
    workflow_job: `Job {{workflow_job.name}} of ${repository} {{action}}: {{workflow_job.conclusion | default(workflow_job.status)}}\n{{workflow_job.html_url}}`,
    check_run: `Check {{check_run.name}} of ${repository} {{action}}: {{check_run.conclusion | default(check_run.status)}}\n{{check_run.html_url}}\n{{check_run.output.summary | truncate(2000)}}`,
    check_suite: `Checks of {{check_suite.head_branch}} in ${repository} {{action}}: {{check_suite.conclusion | default(check_suite.status)}}`,
    deployment_status: `Deployment of ${repository} to {{deployment.environment}}: {{deployment_status.state}}\n{{deployment_status.target_url}}\n{{deployment_status.description}}`,
    status: `Status {{context}} of commit {{sha}} in ${repository}: {{state}}\n{{description}}\n{{target_url}}`,
    create: `{{ref_type}} {{ref}} of ${repository} created${by}`,
    delete: `{{ref_type}} {{ref}} of ${repository} deleted${by}`,
    fork: `${repository} was forked${by}: {{forkee.html_url}}`,
    star: `Star of ${repository} {{action}}${by}`,
    dependabot_alert: `Dependency alert #{{alert.number}} of ${repository} {{action}}: {{alert.dependency.package.name}}, {{alert.security_advisory.severity}}\n{{alert.security_advisory.summary}}\n{{alert.html_url}}`,
    code_scanning_alert: `Code alert #{{alert.number}} of ${repository} {{action}}: {{alert.rule.description}}\n{{alert.html_url}}`,
  },
  otherwise: `GitHub event {{headers.x-github-event | default("of unknown type")}}{{action | before(" ")}} in ${repository}${by}\n\n{{payload | json | truncate(4000)}}`,
}
