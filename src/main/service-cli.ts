// `svc service ...` as a program of its own: it brings the configuration's schema with it, which the command line must not
// load at its start.
import { userInfo } from "node:os"
import type { Command } from "commander"
import { readGatewayFile } from "../gateway/gateway-file.ts"
import { type ServiceCommandIo, registerServiceCommands as register } from "../service/cli.ts"

export type ServiceProgramIo = Omit<ServiceCommandIo, "platform" | "uid" | "userName" | "node" | "readGateway">

export function registerServiceCommands(program: Command, io: ServiceProgramIo): void {
  const { uid, username } = userInfo()
  const { platform, execPath: node } = process
  register(program, { ...io, platform, uid, userName: username, node, readGateway: readGatewayFile })
}
