// Ports that the gateway listens on besides those of the browser part, as the configuration has it at that moment: no page
// of a browser may reach them on this machine.
import { type Config, listChatappAccounts, resolveChatappAccount } from "../config/index.ts"

/** Asked with every request of a page: what the configuration says is worked out when it has changed. */
export function createOwnPorts(config: () => Config, gatewayPort: () => number): () => number[] {
  let known: { of: Config; ports: number[] } | undefined
  return () => {
    const current = config()
    if (known?.of !== current) known = { of: current, ports: [...webhookPorts(current), ...mailPorts(current)] }
    return [gatewayPort(), ...known.ports]
  }
}

/** Of the chat accounts whose updates come by webhook. */
function webhookPorts(config: Config): number[] {
  const accounts = listChatappAccounts(config).map((id) => resolveChatappAccount(config, id))
  return accounts.flatMap(({ enabled, webhookUrl, webhookBind }) =>
    enabled && webhookUrl !== undefined ? Number(webhookBind.slice(webhookBind.lastIndexOf(":") + 1)) : [],
  )
}

function mailPorts({ hooks }: Config): number[] {
  return hooks.enabled && hooks.gmail?.account !== undefined ? [hooks.gmail.serve.port] : []
}
