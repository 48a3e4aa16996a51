// From a seccomp profile of container engines to the program that the kernel takes, so that the shipped profile can be
// tried where no engine is: a chain of comparisons on the number of the system call.
import { readFileSync } from "node:fs"
import { arch } from "node:os"

const machines: Record<string, { header: string; audit: number }> = {
  x64: { header: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", audit: 0xc000003e },
  arm64: { header: "/usr/include/asm-generic/unistd.h", audit: 0xc00000b7 },
}

const load = 0x20
const jumpIfEqual = 0x15
const answer = 0x06
const allow = 0x7fff0000
const kill = 0x80000000
const refuse = 0x00050000

interface Profile {
  defaultErrnoRet: number
  syscalls: { names: string[]; action: string }[]
}

/** Names that this machine does not have are passed over, as the engines do. */
export function compileSeccomp(profile: string): Uint8Array {
  const machine = machines[arch()]
  if (!machine) throw new Error(`the numbers of system calls are not known for ${arch()}`)
  const numbers = readNumbers(machine.header)
  const { defaultErrnoRet, syscalls } = JSON.parse(profile) as Profile
  const allowed = syscalls.filter(({ action }) => action === "SCMP_ACT_ALLOW").flatMap(({ names }) => names)
  const instructions: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [load, 0, 0, 4],
    [jumpIfEqual, 1, 0, machine.audit],
    [answer, 0, 0, kill],
    [load, 0, 0, 0],
    ...allowed
      .map((name) => numbers.get(name))
      .filter((number) => number !== undefined)
      .flatMap((number): [number, number, number, number][] => [
        [jumpIfEqual, 0, 1, number],
        [answer, 0, 0, allow],
      ]),
    [answer, 0, 0, refuse | defaultErrnoRet],
  ]
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}

function readNumbers(header: string): Map<string, number> {
  const lines = readFileSync(header, "utf8").matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gm)
  return new Map([...lines].map(([, name = "", number = ""]) => [name, Number(number)]))
}
