// What a person has to know before a restored folder is started: what goes on, what is done again, what is not known.
import type { RestoreReport } from "./contract.ts"

export function describeRestore(report: RestoreReport): string[] {
  const since = new Date(report.createdAt).toISOString()
  return [
    ...aboutWork(report),
    ...aboutMessages(report),
    `Chat messages that came after ${since} and were taken by the gateway of then are not delivered again by the platform; those that nobody has taken yet are.`,
    "Webhooks accepted since then are not known any more: a sender that repeats one gets it done again. Older ones are still recognised, for as long as they are remembered.",
    "Who was approved since then has to be approved again, and who was revoked since then is let in again: look at svc pairing list chatapp once it runs.",
    ...aboutPlaces(report),
  ]
}

function aboutWork({ openWork }: RestoreReport): string[] {
  if (openWork.jobs === 0) return ["No accepted work was open: nothing is done again."]
  const runs = `${openWork.runs.join(", ")}${openWork.jobs > openWork.runs.length ? ", ..." : ""}`
  const what = `${openWork.jobs} accepted ${openWork.jobs === 1 ? "piece" : "pieces"} of work had not ended (${runs})`
  return openWork.kept === "run"
    ? [`${what}: done at the start, even if it was done after the backup. To prevent that: --open-work hold.`]
    : [`${what}: held, not done. They stand as failed in svc runs list.`]
}

function aboutMessages({ unsent }: RestoreReport): string[] {
  if (unsent.messages === 0) return ["No message was waiting to be sent."]
  return unsent.kept === "ask"
    ? [
        `${unsent.messages} messages had not been sent and may have been since: not sent again, marked uncertain. svc outbox list --state uncertain shows them, svc outbox retry <id> sends one.`,
      ]
    : [`${unsent.messages} messages had not been sent: sent at the start, also if they have been sent since.`]
}

function aboutPlaces({ folder, setAside, elsewhere }: RestoreReport): string[] {
  const lines = elsewhere.map(
    ({ from, to }) => `The configuration also used ${from}; its copy is ${to}. Put it back by hand.`,
  )
  if (setAside !== undefined) {
    lines.push(
      `What stood in ${folder} is now ${setAside}, with the backups that were in it; remove it when you need neither.`,
    )
  }
  return [...lines, `Start it with: SVC_STATE_DIR=${folder} svc gateway`]
}
