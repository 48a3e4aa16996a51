// Nodes: machines that offer their browser, and those that ask to.
import { call } from "../api.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { confirm } from "../ui/confirm.tsx"
import { Badge, Button, Line } from "../ui/parts.tsx"
import { Rows, fixedList } from "../ui/rows.tsx"
import { Time } from "../ui/time.tsx"

export function Nodes() {
  const asked = useAsked("nodes", () => call("GET /api/nodes"), { everyMs: 2_000 })
  const known = asked.value.value
  if (!known) return <Pending of={asked} />
  const decide = (decision: "approve" | "revoke", node: string, name: string) => async () => {
    const title = decision === "approve" ? `Let ${name} in?` : `Let ${name} in no more?`
    const text =
      decision === "approve"
        ? "Compare the code and the fingerprint with what the machine shows: the agent will work in its browser."
        : "Its connection ends, and its browser is offered no more."
    if (!(await confirm({ title, text, action: decision === "approve" ? "Approve" : "Revoke" }))) return
    await call(`POST /api/nodes/${decision}`, { body: { node } })
    await asked.again()
  }
  return (
    <Rows
      list={fixedList(known.nodes)}
      label="Nodes"
      empty={{ title: "No nodes", text: "svc node, on another machine, offers its browser and asks to be let in." }}
    >
      {({ id, name, state, connected, code, fingerprint, platform, address, lastSeenAt, browser }) => (
        <>
          <Line
            title={name}
            aside={connected ? "connected" : lastSeenAt !== null && <Time at={lastSeenAt} />}
            more={
              state === "asked"
                ? `Code ${code ?? "lapsed"} · ${fingerprint}`
                : `${platform} · ${address} · ${browser?.profiles.join(", ") ?? "no browser"}`
            }
          />
          <Badge state={state} tone={state === "approved" ? "good" : state === "asked" ? "warn" : "quiet"} />
          {state === "asked" && (
            <Button act={decide("approve", id, name)} label={`Approve ${name}`}>
              Approve
            </Button>
          )}
          {state !== "revoked" && (
            <Button act={decide("revoke", id, name)} label={`Revoke ${name}`}>
              Revoke
            </Button>
          )}
        </>
      )}
    </Rows>
  )
}
