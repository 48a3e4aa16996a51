// Endpoints -> routes: what a caller sends is parsed by the endpoint's schemas before its handler sees it.
import type { Context } from "hono"
import type { Endpoint, Input } from "./endpoints/endpoint.ts"
import { type Answer, type ApiOptions, type Env, type Route, parse, parseBody } from "./route.ts"

type Replying<Of extends Endpoint> = Omit<Answer, "body"> & { body: Of["reply"]["_zod"]["input"] }

export type Handlers<Given extends Readonly<Record<string, Endpoint>>> = {
  readonly [Name in keyof Given]: (
    options: ApiOptions,
    input: Input<Given[Name]>,
    context: Context<Env>,
  ) => Promise<Replying<Given[Name]>> | Replying<Given[Name]>
}

type AnyHandler = (options: ApiOptions, input: unknown, context: Context<Env>) => Promise<Answer> | Answer

export function routesOf<Given extends Readonly<Record<string, Endpoint>>>(
  endpoints: Given,
  handlers: Handlers<Given>,
): Route[] {
  return Object.entries(endpoints).map(([name, endpoint]) => {
    const [method, path] = name.split(" ") as [Route["method"], string]
    const handler = handlers[name] as unknown as AnyHandler
    return {
      method,
      path,
      async handle(options, context) {
        const input = {
          params: endpoint.params && parse(endpoint.params, context.req.param()),
          query: endpoint.query && parse(endpoint.query, context.req.query()),
          body: endpoint.body && (await parseBody(endpoint.body, context)),
        }
        return await handler(options, input, context)
      },
    }
  })
}
