// Rules of our own for the linter (`jsPlugins` in .oxlintrc.json).
import { allowed } from "./allowed-patterns.mjs"
import { channelContract } from "./channel-contract.mjs"
import { slowness } from "./slow-pattern.mjs"

const place = "say in scripts/lint/allowed-patterns.mjs why it does no harm"

/** Text of strangers may be of any shape: no regular expression may take longer over it than in proportion. */
const linearPattern = {
  create(context) {
    const file = context.filename.replaceAll("\\", "/")
    const check = (node, pattern, flags) => {
      if (allowed.some((each) => file.endsWith(each.file) && each.pattern === pattern)) return
      const problem = problemOf(pattern, flags)
      if (problem === undefined) return
      const message = `The pattern may take the square of its text or more: ${problem}`
      context.report({ node, message: `${message}; write it so that each character has one reading, or ${place}` })
    }
    const checkMade = (node) => {
      const [pattern, flags] = node.arguments
      if (!pattern || pattern.regex) return
      if (typeof pattern.value === "string") return check(node, pattern.value, flags?.value ?? "")
      const text = context.sourceCode.getText(pattern)
      if (allowed.some((each) => file.endsWith(each.file) && each.pattern === text)) return
      context.report({ node, message: `The pattern is put together while the program runs: ${place}` })
    }
    return {
      Literal(node) {
        if (node.regex) check(node, node.regex.pattern, node.regex.flags)
      },
      NewExpression: (node) => isRegExp(node.callee) && checkMade(node),
      CallExpression(node) {
        const { callee, arguments: given } = node
        // These take a text for a pattern; what else is called so takes no text of its own making.
        const takesPattern = patternMethods.has(callee.property?.name) && isText(given[0])
        if (isRegExp(callee) || takesPattern) checkMade(node)
      },
    }
  },
}

const patternMethods = new Set(["match", "matchAll", "search"])

/** Also as a property: `globalThis.RegExp`. */
function isRegExp(callee) {
  return callee.name === "RegExp" || callee.property?.name === "RegExp"
}

function isText(node) {
  return typeof node?.value === "string" || node?.type === "TemplateLiteral"
}

function problemOf(pattern, flags) {
  try {
    return slowness(pattern, flags)
  } catch (error) {
    return `it cannot be checked (${error.message})`
  }
}

export default {
  meta: { name: "svc" },
  rules: { "channel-contract": channelContract, "linear-pattern": linearPattern },
}
