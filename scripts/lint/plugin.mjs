// Rules of our own for the linter (`jsPlugins` in .oxlintrc.json).
import { allowed } from "./allowed-patterns.mjs"
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
    return {
      Literal(node) {
        if (node.regex) check(node, node.regex.pattern, node.regex.flags)
      },
      NewExpression(node) {
        if (node.callee.name !== "RegExp" || node.arguments[0]?.regex) return
        const [pattern, flags] = node.arguments
        if (typeof pattern?.value === "string") return check(node, pattern.value, flags?.value ?? "")
        const text = context.sourceCode.getText(pattern)
        if (allowed.some((each) => file.endsWith(each.file) && each.pattern === text)) return
        context.report({ node, message: `The pattern is put together while the program runs: ${place}` })
      },
    }
  },
}

function problemOf(pattern, flags) {
  try {
    return slowness(pattern, flags)
  } catch (error) {
    return `it cannot be checked (${error.message})`
  }
}

export default { meta: { name: "svc" }, rules: { "linear-pattern": linearPattern } }
