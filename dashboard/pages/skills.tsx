// Skills: written instructions for kinds of work, as they stand in the workspaces of the agents.
import { call } from "../api.ts"
import { link, place } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Badge, Code, Empty, Head } from "../ui/parts.tsx"

export default function Skills() {
  const [, agent, name] = place.current.path
  if (agent !== undefined && name !== undefined) return <Skill key={agent + name} agent={agent} name={name} />
  return <List />
}

function List() {
  const asked = useAsked("skills", () => call("GET /api/skills"))
  const known = asked.known
  if (!known) return <Pending of={asked} />
  return (
    <>
      {known.agents.map(({ agent, folder, skills }) => (
        <section class="section" key={agent}>
          <h2>{agent}</h2>
          <p class="dim">
            <code>{folder}</code>
          </p>
          {skills.length === 0 && (
            <Empty title="No skills yet">
              Make a folder there, with a file SKILL.md that says when and how a kind of work is done.
            </Empty>
          )}
          <ul class="lines">
            {skills.map((skill) => (
              <li key={skill.name}>
                <span class="grow">
                  {skill.problem === undefined ? (
                    <a href={link("skills", agent, skill.name)}>{skill.name}</a>
                  ) : (
                    <strong>{skill.name}</strong>
                  )}{" "}
                  <span class={skill.problem ? "wrong" : "dim"}>{skill.problem ?? skill.description}</span>
                </span>
                {skill.problem ? (
                  <Badge state="left out" tone="warn" />
                ) : (
                  <Badge
                    state={skill.isOffered ? "offered" : "not this agent's"}
                    tone={skill.isOffered ? "good" : "quiet"}
                  />
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

function Skill({ agent, name }: { agent: string; name: string }) {
  const asked = useAsked(name, () => call("GET /api/skills/:name", { params: { name }, query: { agent } }))
  const known = asked.known
  if (!known) return <Pending of={asked} />
  return (
    <>
      <Head back={["skills", "All skills"]} title={name} />
      <p>{known.description}</p>
      <p class="dim">
        <code>{known.file}</code>: a change counts from the next message on.
      </p>
      <Code text={known.text} what="the skill" />
    </>
  )
}
