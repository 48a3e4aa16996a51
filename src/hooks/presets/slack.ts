// Slack: the Events API. One conversation a thread. The endpoint's challenge is answered by the signature check.
import type { Preset } from "./preset.ts"

const place = "{{event.channel}}"

export const slack: Preset = {
  name: "slack",
  scheme: "slack",
  // Events about a channel itself have the whole of it there, all others its id.
  title: 'Slack {{event.type | default(type)}}{{event.channel.id | default(event.channel) | before(" in ")}}',
  sessionKey:
    "hook:slack:{{event.channel.id | default(event.channel) | default(event.item.channel) | default(team_id)}}:{{event.thread_ts | default(event.item.ts) | default(event.ts)}}",
  event: "{{event.type}}",
  idFrom: "payload.event_id",
  texts: {
    app_mention: `{{event.user}} mentions the app in ${place}:\n\n{{event.text | truncate(8000)}}`,
    message: `Message{{event.subtype | before(", ")}} of {{event.user | default(event.bot_id)}} in ${place}:\n\n{{event.text | default(event.message.text) | truncate(8000)}}\n{{event.files | each("- file {name}: {permalink}", 10)}}`,
    reaction_added:
      "{{event.user}} reacts with :{{event.reaction}}: to {{event.item.type}} {{event.item.ts}} in {{event.item.channel}}",
    reaction_removed:
      "{{event.user}} takes :{{event.reaction}}: from {{event.item.type}} {{event.item.ts}} in {{event.item.channel}}",
    member_joined_channel: `{{event.user}} joins ${place}`,
    channel_created: "Channel {{event.channel.name}} ({{event.channel.id}}) created by {{event.channel.creator}}",
    file_shared: `{{event.user_id}} shares file {{event.file_id}} in {{event.channel_id}}`,
  },
  otherwise: "Slack event {{event.type | default(type)}}\n\n{{event | default(payload) | json | truncate(4000)}}",
}
