// Nodes: machines that offer their browser, and those that ask to.
import { call } from "../api.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { confirm } from "../ui/confirm.tsx"
import { Badge, Button, Line } from "../ui/parts.tsx"
import { Rows, fixedList } from "../ui/rows.tsx"
import { signal } from "../ui/signals.ts"
import { Time } from "../ui/time.tsx"

export function Nodes() {
  const asked = useAsked("nodes", () => call("GET /api/nodes"), { everyMs: 2_000 })
  const { known, again } = asked
  if (!known) return <Pending of={asked} />
  const decide = (decision: "approve" | "revoke", node: string) => () =>
    call(`POST /api/nodes/${decision}`, { body: { node } }).then(again)
  const rename = async (node: string, name: string) => {
    const of = signal(name)
    const text = "Its profiles are named by it: a target node and the configuration want the new name."
    if (!(await confirm({ title: `Rename ${name}`, text, action: "Rename", field: { label: "Name", of } }))) return
    await call("POST /api/nodes/rename", { body: { node, name: of.current } })
    await again()
  }
  return (
    <Rows
      list={fixedList(known.nodes)}
      label="Nodes"
      // On a phone the buttons stand below: the code must be there to be compared.
      height={innerWidth < 760 ? 140 : 60}
      empty={["No nodes", "svc node, on another machine, offers its browser and asks to be let in."]}
    >
      {({ id, name, state, connected, code, fingerprint, platform, address, lastSeenAt, browser }) => (
        <>
          <Line
            title={name}
            aside={
              <>
                <Badge state={state} tone={state === "approved" ? "good" : state === "asked" ? "warn" : "quiet"} />{" "}
                {connected ? "connected" : lastSeenAt !== null && <Time at={lastSeenAt} />}
              </>
            }
            more={
              state === "asked"
                ? `Code ${code ?? "lapsed"} · ${fingerprint}`
                : `${platform} · ${address} · ${browser?.profiles.join(", ") ?? "no browser"}`
            }
          />
          {state === "asked" && (
            <Button
              act={decide("approve", id)}
              sure={[
                `Let ${name} in?`,
                `Only if the machine shows the code ${code} and the fingerprint ${fingerprint}: the agent will work in its browser.`,
              ]}
              label={`Approve ${name}`}
            >
              Approve
            </Button>
          )}
          {state === "approved" && (
            <Button act={() => rename(id, name)} label={`Rename ${name}`}>
              Rename
            </Button>
          )}
          {state !== "revoked" && (
            <Button
              act={decide("revoke", id)}
              sure={[`Let ${name} in no more?`, "Its connection ends, and its browser is offered no more."]}
              label={`Revoke ${name}`}
            >
              Revoke
            </Button>
          )}
        </>
      )}
    </Rows>
  )
}
