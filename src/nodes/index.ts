// The door of nodes: other machines that offer their browser to this gateway.
export type { NodeState, NodeSummary } from "./contract.ts"
export type { Answer, Call } from "./gateway/session.ts"
export { type ConnectedNode, Nodes, type NodesOptions } from "./gateway/nodes.ts"
export { nodePath } from "./protocol.ts"
