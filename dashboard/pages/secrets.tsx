// Secrets that pages are filled with: their names and where they go. A value is written here and never read.
import { call } from "../api.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Check, Field, Select } from "../ui/form.tsx"
import { Held } from "../ui/held.tsx"
import { Button, Card, Line } from "../ui/parts.tsx"
import { useSignal } from "../ui/signals.ts"
import { Time } from "../ui/time.tsx"

export function Secrets() {
  const asked = useAsked("secrets", () => call("GET /api/secrets"))
  const { known, again } = asked
  if (!known) return <Pending of={asked} />
  return (
    <>
      <New again={again} />
      <Held
        title="Secrets"
        items={known.secrets}
        empty={["No secrets", "With one the agent signs in for you, and never sees it."]}
        verb="Remove"
        past="removed"
        act={({ name }) => call("POST /api/secrets/remove", { body: { name } }).then(again)}
        means="Its value is gone for good."
      >
        {({ name, origins, reference, anyField, lastUsedAt }) => (
          <>
            <Line
              title={name}
              aside={reference}
              more={`${origins.join(", ")}${anyField ? " · fields of any kind" : ""}`}
            />
            {lastUsedAt === null ? <span class="dim wide">never used</span> : <Time at={lastUsedAt} />}
          </>
        )}
      </Held>
    </>
  )
}

const sources = [
  ["value", "typed here"],
  ["op", "1Password"],
  ["bw", "Bitwarden: password"],
  ["username", "Bitwarden: user name"],
  ["totp", "Bitwarden: code"],
] as const

function New({ again }: { again: () => Promise<void> }) {
  const name = useSignal("")
  const origins = useSignal("")
  const source = useSignal("value")
  const value = useSignal("")
  const anyField = useSignal(false)
  const from = source.current
  const keep = async () => {
    const field = from === "username" || from === "totp" ? from : "password"
    const given = value.current
    const held = from === "value" || from === "op" ? { [from]: given } : { bw: { item: given, field } as const }
    const body = {
      name: name.current,
      origins: origins.current.split(/\s+/).filter(Boolean),
      anyField: anyField.current,
    }
    await call("POST /api/secrets", { body: { ...body, ...held } })
    name.current = value.current = ""
    await again()
  }
  return (
    <Card title="Keep a secret">
      <div class="filters">
        <Field label="Name" of={name} placeholder="shop-password" />
        <Field label="Pages that get it" of={origins} placeholder="https://shop.example" />
        <Select label="Where it is" of={source} options={sources} />
        {from === "value" ? (
          <Field label="Value" of={value} type="password" />
        ) : (
          <Field
            label={from === "op" ? "Reference" : "Item"}
            of={value}
            placeholder={from === "op" ? "op://Private/Shop/password" : "Shop"}
          />
        )}
      </div>
      <p class="dim">
        Scheme, host and port of the pages, exactly; several apart by spaces. One of the same name is replaced.
      </p>
      <Check label="Also into fields that show what they hold" of={anyField} />
      <div class="actions">
        <Button
          act={keep}
          done="Kept"
          kind="main"
          disabled={!(name.current && origins.current.trim() && value.current)}
        >
          Keep it
        </Button>
      </div>
    </Card>
  )
}
