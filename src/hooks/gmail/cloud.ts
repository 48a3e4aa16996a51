// What the mail watch needs in a Google Cloud project, each step repeatable: APIs on -> topic -> Gmail may publish ->
// service account that signs the pushes -> subscription that pushes to our address.
import { AppError, type Clock } from "../../kernel/index.ts"
import type { GoogleRoots } from "./contract.ts"
import { type GoogleCaller, GoogleError, type GoogleRequest } from "./google-call.ts"

export interface CloudOptions {
  caller: GoogleCaller
  roots: GoogleRoots
  clock: Clock
  /** With the scope of the cloud; never stored. */
  accessToken: string
  project: string
  /** `projects/<project>/topics/<topic>` */
  topic: string
  subscription: string
  /** Account name of the service account, before the `@`. */
  serviceAccountName: string
  /** Where pushes go, with the push token. */
  pushEndpoint: string
  audience: string
  signal?: AbortSignal | undefined
  /** Called before each step. */
  progress: (step: string) => void
}

/** Gmail's own account, the same for everybody. */
const gmailPublisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com"
const publisherRole = "roles/pubsub.publisher"
const services = ["gmail.googleapis.com", "pubsub.googleapis.com", "iam.googleapis.com"]
/** Acknowledging is one write to the disk. */
const ackDeadlineSeconds = 30
/** Mostly done at once, at times after half a minute. */
const firstPollMs = 200
const maxPollMs = 5_000
const operationPolls = 30

type Call = <Answer>(
  method: GoogleRequest["method"],
  root: keyof GoogleRoots,
  path: string,
  body?: object,
) => Promise<Answer>

/** The service account's address. */
export async function prepareCloud(options: CloudOptions): Promise<string> {
  const call: Call = (method, root, path, body) =>
    options.caller.call({
      method,
      url: new URL(path, options.roots[root]).href,
      body,
      accessToken: options.accessToken,
      signal: options.signal,
    })
  options.progress("switch on the APIs")
  await enableServices(options, call)
  options.progress("topic")
  await ensure(call, "pubsub", `/v1/${options.topic}`, () => call("PUT", "pubsub", `/v1/${options.topic}`, {}))
  options.progress("let Gmail publish to the topic")
  await grantPublisher(options, call)
  options.progress("service account that signs the pushes")
  const serviceAccount = await ensureServiceAccount(options, call)
  options.progress("subscription")
  await ensureSubscription(options, call, serviceAccount)
  return serviceAccount
}

interface Operation {
  name?: string
  done?: boolean
  error?: { message?: string }
}

async function enableServices({ clock, project, signal }: CloudOptions, call: Call): Promise<void> {
  const path = `/v1/projects/${project}/services:batchEnable`
  let operation = await call<Operation>("POST", "serviceUsage", path, { serviceIds: services })
  for (let poll = 0; operation.done !== true && operation.name !== undefined; poll += 1) {
    if (poll === operationPolls) throw new AppError("timeout", "Google is still switching on the APIs; try again")
    await clock.sleep(Math.min(maxPollMs, firstPollMs * 2 ** poll), signal)
    operation = await call<Operation>("GET", "serviceUsage", `/v1/${operation.name}`)
  }
  if (operation.error) {
    throw new AppError("platform-refused", `The APIs cannot be switched on: ${operation.error.message ?? ""}`)
  }
}

/** What is there, else what `create` makes of it. */
async function ensure<Answer>(call: Call, root: keyof GoogleRoots, path: string, create: () => Promise<Answer>) {
  try {
    return await call<Answer>("GET", root, path)
  } catch (error) {
    if (!(error instanceof GoogleError) || error.status !== 404) throw error
    return await create()
  }
}

interface Policy {
  etag?: string
  version?: number
  bindings?: { role: string; members?: string[]; condition?: object }[]
}

async function grantPublisher({ topic }: CloudOptions, call: Call): Promise<void> {
  const policy = await call<Policy>("GET", "pubsub", `/v1/${topic}:getIamPolicy`)
  const bindings = policy.bindings ?? []
  const own = bindings.find(({ role, condition }) => role === publisherRole && condition === undefined)
  if (own?.members?.includes(gmailPublisher)) return
  const others = bindings.filter((binding) => binding !== own)
  const granted = { role: publisherRole, members: [...(own?.members ?? []), gmailPublisher] }
  // The etag makes the service refuse when somebody changed the policy meanwhile.
  await call("POST", "pubsub", `/v1/${topic}:setIamPolicy`, { policy: { ...policy, bindings: [...others, granted] } })
}

async function ensureServiceAccount(options: CloudOptions, call: Call): Promise<string> {
  const { project, serviceAccountName: name } = options
  // A full address is somebody's own account: it is taken as it is.
  if (name.includes("@")) return name
  const create = () =>
    call<{ email: string }>("POST", "iam", `/v1/projects/${project}/serviceAccounts`, {
      accountId: name,
      serviceAccount: { displayName: "Signs the pushes of the Gmail watch" },
    })
  const address = `${name}@${project}.iam.gserviceaccount.com`
  const path = `/v1/projects/${project}/serviceAccounts/${encodeURIComponent(address)}`
  const { email } = await ensure<{ email: string }>(call, "iam", path, create)
  return email
}

interface Subscription {
  topic?: string
}

async function ensureSubscription(options: CloudOptions, call: Call, serviceAccountEmail: string): Promise<void> {
  const path = `/v1/projects/${options.project}/subscriptions/${options.subscription}`
  const oidcToken = { serviceAccountEmail, audience: options.audience }
  const pushConfig = { pushEndpoint: options.pushEndpoint, oidcToken }
  let created = false
  const existing = await ensure<Subscription>(call, "pubsub", path, () => {
    created = true
    return call<Subscription>("PUT", "pubsub", path, {
      topic: options.topic,
      pushConfig,
      ackDeadlineSeconds,
      // Without a ttl it never lapses; the default is 31 days without mail.
      expirationPolicy: {},
      retryPolicy: { minimumBackoff: "10s", maximumBackoff: "600s" },
    })
  })
  if (created) return
  if (existing.topic !== undefined && existing.topic !== options.topic) {
    throw new AppError("conflict", `The subscription ${options.subscription} belongs to another topic`, {
      hint: "Give another name with --subscription",
    })
  }
  await call("POST", "pubsub", `${path}:modifyPushConfig`, { pushConfig })
}
