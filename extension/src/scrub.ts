// What is taken out of events on their way to the gateway: cookies and logins of whatever sites a page asks for something.
// The page's own cookies are asked for by name (allowed.ts); what others keep in this browser is nobody's business.

type Json = Record<string, unknown>

const secretHeaders = new Set(["cookie", "set-cookie", "authorization", "proxy-authorization"])

export function scrubEvent(method: string, params: Json): Json {
  if (method.startsWith("Network.")) return scrubNetwork(params)
  if (method === "Fetch.requestPaused") return withRequest(params)
  return params
}

function scrubNetwork(params: Json): Json {
  const {
    associatedCookies: _sent,
    blockedCookies: _blocked,
    exemptedCookies: _exempted,
    headersText: _text,
    ...rest
  } = params
  const scrubbed = withRequest(rest)
  for (const name of ["response", "redirectResponse"]) {
    if (isObject(scrubbed[name])) scrubbed[name] = withoutText(scrubbed[name])
  }
  return scrubbed["headers"] === undefined ? scrubbed : { ...scrubbed, headers: without(scrubbed["headers"]) }
}

function withRequest(params: Json): Json {
  const { request } = params
  return isObject(request)
    ? { ...params, request: { ...request, headers: without(request["headers"]) } }
    : { ...params }
}

function withoutText(response: Json): Json {
  const { headersText: _text, requestHeadersText: _request, requestHeaders: _headers, ...rest } = response
  return { ...rest, headers: without(rest["headers"]) }
}

function without(headers: unknown): unknown {
  if (!isObject(headers)) return headers
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.has(name.toLowerCase())))
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
