// Settings: the configuration as a form, and beside it what else is set up once.
import { place } from "../router.ts"
import { Tabs } from "../ui/parts.tsx"
import { Access, AuditLog, Backups } from "./access.tsx"
import { Nodes } from "./nodes.tsx"
import { Secrets } from "./secrets.tsx"
import { Configuration } from "./configuration.tsx"

const parts = {
  "": Configuration,
  access: Access,
  audit: AuditLog,
  backups: Backups,
  nodes: Nodes,
  secrets: Secrets,
} as const

export default function Settings() {
  const [, part = ""] = place.current.path
  const Shown = parts[part as keyof typeof parts] ?? Configuration
  return (
    <>
      <Tabs
        page="settings"
        current={part}
        of={[
          ["", "Configuration"],
          ["access", "Access"],
          ["secrets", "Secrets"],
          ["audit", "Audit log"],
          ["backups", "Backups"],
          ["nodes", "Nodes"],
        ]}
      />
      <Shown />
    </>
  )
}
