// Settings: the configuration as a form, and beside it what else is set up once.
import { place } from "../router.ts"
import { Tabs } from "../ui/parts.tsx"
import { Configuration } from "./configuration.tsx"

const parts = { "": Configuration } as const
type Part = keyof typeof parts

export default function Settings() {
  const [, part = ""] = place.value.path
  const Shown = parts[part as Part] ?? Configuration
  return (
    <>
      <Tabs page="settings" current={part} of={[["", "Configuration"]]} />
      <Shown />
    </>
  )
}
