// The files of docs/guides/exposing, in front of a real gateway: what strangers reach through them and what they do not.
// Names, ports and the certificate are put in, and Caddy's time for a body is shortened as the gateway's is there.
import assert from "node:assert/strict"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { request as httpsRequest } from "node:https"
import { delimiter, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { type TLSSocket, connect } from "node:tls"
import { WebSocket } from "ws"
import { bearer as slowBearer, startHooks } from "../../src/hooks/hooks.fixture.ts"
import { freePort } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { type World, createWorld, hookToken } from "../support/world.ts"

const name = "hooks.example.org"
/** Of the other files: the owner's own. */
const pageName = "svc.example.org"
const chatSecret = "secret-of-the-chat-webhook-0123456789"
const guides = join(import.meta.dirname, "../../docs/guides/exposing")

let world: World
let chatPort: number
let answerAfterMs = 0
let certificate: { folder: string; cert: string; key: string; pem: string } | undefined
const ends: (() => Promise<void>)[] = []
const later = { after: (end: () => Promise<void>) => void ends.unshift(end) }

function programPath(program: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/bin"]
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

before(async () => {
  if (!programPath("openssl") || (!programPath("caddy") && !programPath("nginx"))) return
  certificate = makeCertificate()
  chatPort = await freePort()
  const chatapp = {
    webhookUrl: `http://127.0.0.1:${chatPort}/chatapp-webhook`,
    webhookBind: `127.0.0.1:${chatPort}`,
    webhookSecret: chatSecret,
  }
  world = await createWorld(later as never, {
    emulator: { localMode: true },
    config: {
      channels: { chatapp },
      browser: { enabled: false },
      gateway: { allowedHosts: [pageName], page: { publicUrl: `https://${pageName}` } },
    },
  })
  world.model.script(async () => {
    await delay(answerAfterMs)
    return text("done")
  })
  await world.start()
})
after(async () => {
  for (const end of ends) await end()
})

function makeCertificate() {
  const folder = temporaryFolder()
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name} -addext subjectAltName=DNS:${name},DNS:${pageName} -keyout ${key} -out ${cert}`
  execFileSync("openssl", words.split(" "), { stdio: "ignore" })
  return { folder, cert, key, pem: readFileSync(cert, "utf8") }
}

/** Every replacement must find its place, so that the files and this test cannot part. */
function fillIn(file: string, changes: readonly [string, string][]): string {
  return changes.reduce(
    (content, [from, to]) => {
      assert.ok(content.includes(from), `${file} has no ${JSON.stringify(from)}`)
      return content.replaceAll(from, to)
    },
    readFileSync(join(guides, file), "utf8"),
  )
}

interface Ports {
  own: number
  gateway: number
  chat: number
}

const slowBodies: [string, string] = ["read_body 45s", "read_body 2s"]
const chatChange = ({ chat }: Ports): [string, string] => ["127.0.0.1:8787", `127.0.0.1:${chat}`]

interface Proxy {
  program: string
  start(ports: Ports, folder: string, isPage?: boolean): ChildProcess
}

const proxies: Proxy[] = [
  {
    program: "caddy",
    start(ports, folder, isPage = false) {
      const { cert, key } = certificate as NonNullable<typeof certificate>
      const host = isPage ? pageName : name
      const content = fillIn(isPage ? "page.Caddyfile" : "Caddyfile", [
        ["admin off", "admin off\n\tgrace_period 100ms\n\tauto_https disable_redirects"],
        [`${host} {`, `https://${host}:${ports.own} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}`],
        ["127.0.0.1:18789", `127.0.0.1:${ports.gateway}`],
        ...(isPage ? [] : [chatChange(ports), slowBodies]),
      ])
      writeFileSync(join(folder, "Caddyfile"), content)
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      const words = ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"]
      return spawn(programPath("caddy") as string, words, { stdio: ["ignore", "ignore", "pipe"], env })
    },
  },
  {
    program: "nginx",
    start(ports, folder, isPage = false) {
      const { cert, key } = certificate as NonNullable<typeof certificate>
      const host = isPage ? pageName : name
      const content = fillIn(isPage ? "page.nginx.conf" : "nginx.conf", [
        ["listen 443", `listen 127.0.0.1:${ports.own}`],
        [`/etc/letsencrypt/live/${host}/fullchain.pem`, cert],
        [`/etc/letsencrypt/live/${host}/privkey.pem`, key],
        [`/var/log/nginx/svc${isPage ? "-page" : ""}.log`, join(folder, "access.log")],
        ["127.0.0.1:18789", `127.0.0.1:${ports.gateway}`],
        ...(isPage ? [] : [chatChange(ports)]),
      ])
      writeFileSync(join(folder, "svc.conf"), content)
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
        .join(" ")
      const user = process.getuid?.() === 0 ? "user root;" : ""
      const main = `daemon off; ${user} worker_processes 1; pid ${join(folder, "pid")}; error_log stderr info;
        events {} http { ${temporary} access_log off; include ${join(folder, "svc.conf")}; }`
      writeFileSync(join(folder, "main.conf"), main)
      const words = ["-p", folder, "-c", join(folder, "main.conf")]
      return spawn(programPath("nginx") as string, words, { stdio: ["ignore", "ignore", "pipe"] })
    },
  },
]

interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  host?: string
}

for (const proxy of proxies) {
  const lacking = ["openssl", proxy.program].filter((program) => !programPath(program))
  const skip = lacking.length === 0 ? false : `not installed: ${lacking.join(", ")}`
  describe(`behind ${proxy.program}`, { skip }, () => {
    let port: number
    const running: ChildProcess[] = []

    /** Resolves with its port when it answers. */
    async function run(gateway: number, isPage = false): Promise<number> {
      const own = await freePort()
      const folder = join(temporaryFolder(), proxy.program)
      mkdirSync(folder)
      const child = proxy.start({ own, gateway, chat: chatPort }, folder, isPage)
      running.push(child)
      let output = ""
      child.stderr?.on("data", (chunk) => (output += chunk))
      await world.until(`${proxy.program} listens`, async () => {
        assert.equal(child.exitCode, null, output)
        return await ask("/", isPage ? { host: pageName } : {}, own).catch(() => undefined)
      })
      return own
    }

    before(async () => {
      port = await run(world.port)
    })
    after(async () => {
      for (const child of running) {
        child.kill("SIGTERM")
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
      }
    })

    /** The path goes out as it stands. */
    function ask(path: string, { method = "GET", headers = {}, body, host = name }: Asked = {}, to = port) {
      return new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
        const isOurs = host === name || host === pageName
        const tls = { servername: host, ca: certificate?.pem, rejectUnauthorized: isOurs }
        const request = httpsRequest(
          { host: "127.0.0.1", port: to, path, method, agent: false, ...tls, headers: { host, ...headers } },
          (response) => {
            let received = ""
            response.on("data", (chunk) => (received += chunk))
            const cookie = String(response.headers["set-cookie"] ?? "")
            response.on("end", () => resolve({ status: response.statusCode ?? 0, text: received, cookie }))
            response.on("error", reject)
          },
        )
        request.on("error", reject)
        request.end(body)
      })
    }

    const bearer = { authorization: `Bearer ${hookToken}` }
    const wake = (
      headers: Record<string, string> = {},
      body: string | Buffer = '{"text": "rain", "mode": "next-heartbeat"}',
    ) => ask("/hooks/wake", { method: "POST", headers: { ...bearer, ...headers }, body })

    test("webhooks are accepted, and answered with the reply they wait for", async () => {
      assert.deepEqual(JSON.parse((await wake()).text), { ok: true, mode: "next-heartbeat" })
      // Longer than Caddy waits for a body here: what it cuts must be bodies, not answers.
      answerAfterMs = proxy.program === "caddy" ? 2_500 : 0
      const body = '{"message": "work", "deliver": false}'
      const waited = await ask("/hooks/agent?wait=20", { method: "POST", headers: bearer, body })
      assert.equal(waited.status, 200, waited.text)
      assert.equal(JSON.parse(waited.text).reply, "done")
      const { runId } = JSON.parse(waited.text)
      assert.equal((await ask(`/hooks/runs/${runId}`, { headers: bearer })).status, 200)
      assert.equal((await wake({ authorization: "Bearer wrong" })).status, 401)
    })

    test("the chat platform's updates are accepted with its secret alone", async () => {
      const update = (secret: string, body = '{"update_id": 1}') =>
        ask("/chatapp-webhook", {
          method: "POST",
          headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
          body,
        })
      assert.equal((await update(chatSecret)).status, 200)
      assert.equal((await update("wrong")).status, 401)
      const long = JSON.stringify({ update_id: 2, padding: "x".repeat(400_000) })
      assert.equal((await update(chatSecret, long)).status, 200)
      assert.equal((await update(chatSecret, "x".repeat(1_200_000))).status, 413)
    })

    test("everything else is 404 at the proxy, with every secret and in every spelling", async () => {
      const secrets = [{}, { authorization: `Bearer ${world.gateway.token}` }, bearer]
      const paths = [
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/api/status",
        "/hooks",
        "/hooks/",
        "/hooks?limit=5",
        "/hooksx/wake",
        "/Hooks/wake",
        "//hooks/wake",
        "/hooks//wake",
        "/hooks/../api/status",
        "/hooks/wake/../../api/status",
        "/hooks/%2e%2e/api/status",
        "/hooks/%2fapi",
        "/hooks/./wake",
        "/hooks/..;/api/status",
        "/hooks\\..\\api\\status",
        "/%68ooks/wake",
        "/api/../hooks/wake",
        "/tabs",
        "/json/version",
        "/cdp",
        "/chatapp-webhook/../api/status",
        "/chatapp-webhookx",
        "/.svc-chat",
      ]
      for (const path of paths) {
        for (const headers of secrets) {
          const answer = await ask(path, { headers })
          assert.ok(answer.status === 404 || answer.status === 400, `${path}: ${answer.status}`)
          assert.ok(!answer.text.includes('"ok"'), `${path} reached the gateway`)
        }
      }
      assert.equal((await ask("/api/status", { headers: secrets[1] as Record<string, string> })).status, 404)
      for (const method of ["PUT", "DELETE", "PATCH", "TRACE"]) {
        const answer = await ask("/hooks/wake", { method, headers: bearer })
        assert.ok(answer.status === 404 || answer.status === 405, `${method}: ${answer.status}`)
        assert.ok(!answer.text.includes('"ok"'), method)
      }
      assert.equal((await ask("/chatapp-webhook")).status, 404)
    })

    test("forged headers of proxies change nothing and reach nobody", async () => {
      const forged = {
        "x-forwarded-for": "203.0.113.9",
        "x-forwarded-host": "127.0.0.1",
        "x-forwarded-proto": "http",
        "x-real-ip": "203.0.113.9",
        forwarded: "for=203.0.113.9;host=127.0.0.1",
      }
      assert.equal((await wake({ ...forged, authorization: "Bearer wrong" })).status, 401)
      assert.equal((await wake(forged)).status, 200)
      const [newest] = world.rows<{ headers: string }>("select headers from hook_delivery order by id desc limit 1")
      assert.ok(!newest?.headers.includes("203.0.113.9"), newest?.headers)
      const { items } = await world.gateway.call<{ items: { door: string; who: { id: string } }[] }>(
        "GET",
        "/api/audit?action=auth.failed",
      )
      assert.deepEqual([...new Set(items.map(({ who }) => who.id))], ["127.0.0.1"])
      // What came to the gateway's own door came by the owner's files.
      const doors = new Set(items.map(({ door }) => door).filter((door) => door !== "gateway"))
      assert.deepEqual([...doors].toSorted(), ["chat", "hooks"])
    })

    test("web pages and foreign host names are refused", async () => {
      for (const page of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
        const answer = await wake(page)
        assert.equal(answer.status, 403)
        assert.match(answer.text, /forbidden-origin/)
      }
      const foreign = await ask("/hooks/wake", { host: "evil.example", headers: bearer }).catch(() => "no handshake")
      assert.equal(foreign, "no handshake")
      const mixed = await ask("/hooks/wake", { method: "POST", headers: { ...bearer, host: "127.0.0.1" }, body: "{}" })
      assert.ok(mixed.status === 404 || mixed.status === 421, String(mixed.status))
    })

    test("bodies that are too large are refused, whether or not they say so", async () => {
      const large = Buffer.alloc(300 * 1024, "x")
      assert.equal((await wake({ "content-length": String(large.length) }, large)).status, 413)
      assert.equal((await wake({ "transfer-encoding": "chunked" }, large)).status, 413)
    })

    test("the owner's files let in the page, streams, tabs, programs and nodes, and nothing else", async () => {
      const front = await run(world.port, true)
      const origin = `https://${pageName}`
      const at = (path: string, asked: Asked = {}) => ask(path, { host: pageName, ...asked }, front)
      const post = { method: "POST", headers: { origin, "content-type": "application/json" } }
      const { others } = await world.gateway.call<{ others: string[] }>("POST", "/api/page/links", {})
      const code = others[0]?.split(`${origin}/dashboard/#enter=`)[1]
      const entered = await at("/dashboard/enter", { ...post, body: JSON.stringify({ code }) })
      assert.match(entered.cookie, /^__Host-svc-page-\d+=.*HttpOnly; SameSite=Strict.*; Secure/)
      const me = { cookie: entered.cookie.split(";")[0] ?? "", "x-csrf-token": JSON.parse(entered.text).key as string }
      assert.equal((await at("/api/page/session", { headers: me })).status, 200)
      assert.equal((await at("/api/page/session", { headers: { ...me, origin: "https://evil.example" } })).status, 403)
      assert.equal((await at("/api/page/session")).status, 401)
      assert.match(await firstWords(front, "/api/stream", me), /event: ready/)
      assert.equal(
        (await at("/takeover/claim", { ...post, body: JSON.stringify({ token: "x".repeat(43) }) })).status,
        401,
      )
      assert.equal((await at("/mcp", { ...post, body: "{}" })).status, 401)
      assert.match(await nodeAnswer(front, {}), /no hello of a node/)
      assert.match(await nodeAnswer(front, { origin }), /403/)
      const token = { authorization: `Bearer ${world.gateway.token}` }
      const paths = ["/", "/metrics", "/healthz", "/readyz", "/hooks/wake", "/hooks", "/tabs", "/json/version", "/apix"]
      for (const path of [...paths, "/%61pi/status", "//api/status", "/x/../api/status", "/API/status"])
        assert.deepEqual([(await at(path, { headers: token })).status, path], [404, path])
      for (const path of ["/api/../metrics", "/api/%2e%2e/metrics", "/dashboard/../metrics", "/node/../metrics"])
        assert.doesNotMatch((await at(path, { headers: token })).text, /svc_/, path)
    })

    function firstWords(to: number, path: string, headers: Record<string, string>): Promise<string> {
      const tls = { servername: pageName, ca: certificate?.pem }
      const all = { host: pageName, ...headers }
      return new Promise((resolve, reject) => {
        const request = httpsRequest(
          { host: "127.0.0.1", port: to, path, agent: false, ...tls, headers: all },
          (response) =>
            response.once("data", (chunk) => {
              resolve(String(chunk))
              request.destroy()
            }),
        )
        request.on("error", reject)
        request.end()
      })
    }

    /** What the nodes' door says to somebody who does not speak its language. */
    function nodeAnswer(to: number, headers: Record<string, string>): Promise<string> {
      const tls = { servername: pageName, ca: certificate?.pem }
      const socket = new WebSocket(`wss://127.0.0.1:${to}/node`, { ...tls, headers: { host: pageName, ...headers } })
      return new Promise((resolve) => {
        socket.on("open", () => socket.send('{"type":"hello"}'))
        socket.on("message", (data) => resolve(String(data)))
        socket.on("error", (error) => resolve(error.message))
      })
    }

    test("a body that does not come is given up with 408, and others are served meanwhile", async (context) => {
      // The gateway's own endpoints, with less patience than its 30 seconds.
      const hooks = await startHooks({ bodyTimeoutMs: 1_000 })
      context.after(() => hooks.stop())
      const front = await run(hooks.port)
      const socket: TLSSocket = connect({ host: "127.0.0.1", port: front, servername: name, ca: certificate?.pem })
      let received = ""
      socket.on("data", (chunk) => (received += chunk))
      await once(socket, "secureConnect")
      const answered = once(socket, "data", { signal: AbortSignal.timeout(20_000) })
      const head = `POST /hooks/wake HTTP/1.1\r\nhost: ${name}\r\nauthorization: ${slowBearer.authorization}\r\n`
      socket.write(`${head}content-length: 100\r\n\r\n{"text":`)
      const other = { method: "POST", headers: slowBearer, body: '{"text": "in time"}' }
      assert.equal((await ask("/hooks/wake", other, front)).status, 200)
      await answered
      assert.match(received, /^HTTP\/1\.1 408 /)
      socket.destroy()
      assert.equal(hooks.rows("select * from inbox").length, 1)
    })
  })
}
