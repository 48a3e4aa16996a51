// Whether a regular expression may take more than time in proportion to its text: going back, the built-in engine tries
// every way in which its repetitions can share out the same characters. Found by following all readings of a text at
// once: tree -> states (one for each character to read) -> two readings of the same word that go round and meet again
// (any power of the text), or that go round in two places one after the other (its square).
import { readPattern } from "./pattern-tree.mjs"

/** What stands for all characters: every ASCII one, and some of each other kind that patterns tell apart. */
const samples = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ..."\u00a0\u00adéßпΩ価あא\u0301\u200b\u202e\u2028\u2192\u2581\u3000\u300cＡ\ud800𝐮🦞\u{e0041}",
]
/** Counted repetitions up to here are taken for one: they multiply the time by no more than this, whatever the text. */
const longestCount = 200
const maxStates = 1_000

/**
 * Why the pattern is slow, or undefined.
 * @param {string} source @param {string} flags @returns {string | undefined}
 */
export function slowness(source, flags) {
  const tree = readPattern(source, flags)
  if (hasBackReference(tree)) return "a back reference has to be tried again and again"
  const isAnchored = flags.includes("y") || (!flags.includes("m") && beginsAtStart(source))
  for (const part of [tree, ...lookarounds(tree)]) {
    const problem = new Machine(part, part !== tree || !isAnchored).findSlowness()
    if (problem) return problem
  }
  return undefined
}

/** Every alternative must: `^a|b` does not. */
function beginsAtStart(source) {
  let depth = 0
  for (const [token] of source.matchAll(/\[(?:\\.|[^\]\\])*\]|\\.|[()|]|./gsu)) {
    if (token === "(") depth += 1
    if (token === ")") depth -= 1
    if (token === "|" && depth === 0) return false
  }
  return source.startsWith("^")
}

function children(tree) {
  if (tree.kind === "row") return tree.parts
  if (tree.kind === "choice") return tree.options
  return "part" in tree ? [tree.part] : []
}

function hasBackReference(tree) {
  return tree.kind === "back" || children(tree).some(hasBackReference)
}

function lookarounds(tree) {
  const inner = children(tree).flatMap(lookarounds)
  // One character that must or must not stand there costs nothing.
  return tree.kind === "look" && !oneCharacter(tree.part) ? [tree.part, ...inner] : inner
}

/** The test of a lookaround that looks at one character. */
function oneCharacter(tree) {
  if (tree.kind === "atom") return tree.fits
  const parts = children(tree).map(oneCharacter)
  if (tree.kind === "row" && parts.length === 1) return parts[0]
  if (tree.kind !== "choice" || !parts.every(Boolean)) return undefined
  return (character) => parts.some((fits) => fits(character))
}

/** States are numbers: 0 is before the first character; `edges` say which state may read the character after which. */
class Machine {
  constructor(tree, isSearch) {
    /** @type {{ fits: (character: string) => boolean }[]} */
    this.states = [{ fits: () => false }]
    /** @type {Map<string, { from: number, to: number, places: Function[], ways: number }>[]} */
    this.edges = [new Map()]
    this.ends = new Set()
    this.tree = tree
    // A search begins anew at each character: as if any number of others stood before.
    if (isSearch) this.states[0] = { fits: () => true }
    const exits = this.lay(tree, [{ state: 0, places: [] }])
    if (isSearch) this.join({ state: 0, places: [] }, 0)
    for (const { state, places } of exits) if (places.length === 0) this.ends.add(state)
    this.alphabet = this.classes()
  }

  /** Adds the part behind these exits; its own exits. */
  lay(tree, exits) {
    switch (tree.kind) {
      case "atom": {
        if (this.states.length >= maxStates) throw new Error("the pattern is too large to be checked")
        const state = this.states.push(tree) - 1
        this.edges.push(new Map())
        for (const exit of exits) this.join(exit, state)
        return [{ state, places: [] }]
      }
      case "place":
        return exits.map(({ state, places }) => ({ state, places: [...places, tree.at] }))
      case "look": {
        const fits = oneCharacter(tree.part)
        if (!fits) return exits
        const at = (before, after) => fits(tree.behind ? before : after) !== tree.negative
        return exits.map(({ state, places }) => ({ state, places: [...places, at] }))
      }
      case "row":
        return tree.parts.reduce((open, part) => this.lay(part, open), exits)
      case "choice":
        return tree.options.flatMap((option) => this.lay(option, exits))
      case "repeat":
        return this.layRepeat(tree, exits)
      default:
        return exits
    }
  }

  layRepeat({ part, least, most }, exits) {
    const first = this.states.length
    const before = this.edges.map((edges) => new Map(edges))
    let inner = this.lay(part, exits)
    const isLoop = most === Infinity || most > longestCount
    if (isLoop) {
      // Round again: from each exit to whatever the part begins with.
      const entries = new Map()
      for (const exit of exits) {
        for (const [key, edge] of this.edges[exit.state]) {
          if (edge.to >= first && !before[exit.state]?.has(key)) entries.set(edge.to, edge)
        }
      }
      const own = inner.filter(({ state }) => state >= first)
      for (const exit of own) {
        for (const to of entries.keys())
          this.join(exit, to, entries.get(to).places.slice(placesOf(exits, entries.get(to)).length))
      }
      inner = own.length === inner.length ? inner : [...own, ...inner.filter(({ state }) => state < first)]
    }
    return least === 0 ? [...inner, ...exits] : inner
  }

  join({ state, places }, to, more = []) {
    const all = [...places, ...more]
    const key = `${to}`
    const known = this.edges[state].get(key)
    if (known) {
      known.ways += 1
      if (all.length < known.places.length) known.places = all
    } else this.edges[state].set(key, { from: state, to, places: all, ways: 1 })
  }

  /** One sample for each set of characters that no state tells from each other. */
  classes() {
    const seen = new Map()
    for (const sample of samples) {
      const key = this.states.map(({ fits }) => (fits(sample) ? 1 : 0)).join("") + /\w/.test(sample) + (sample === "\n")
      if (!seen.has(key)) seen.set(key, sample)
    }
    return [...seen.values()]
  }

  /** Where the state can go by this character. */
  *steps(state, before, character) {
    for (const { to, places, ways } of this.edges[state].values()) {
      if (!this.states[to].fits(character) || !places.every((at) => at(before, character))) continue
      for (let way = 0; way < Math.min(ways, 2); way += 1) yield { to, way }
    }
  }

  findSlowness() {
    const loops = this.states.map((_, state) => state).filter((state) => this.reaches(state, state))
    for (const state of loops) {
      if (state !== 0 && this.meetsAgain(state)) return "repetitions within each other can match the same characters"
    }
    for (const first of loops) {
      for (const second of loops) {
        if (first === second || !this.reaches(first, second)) continue
        if (this.sharesOut(first, second)) {
          return first === 0
            ? "it may begin anywhere in what its repetition has matched, and then fail"
            : "repetitions one after the other can match the same characters"
        }
      }
    }
    return undefined
  }

  reaches(from, to) {
    const seen = new Set()
    const open = [from]
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      for (const next of this.edges[state].values()) {
        if (next.to === to) return true
        if (!seen.has(next.to)) open.push(next.to)
        seen.add(next.to)
      }
    }
    return false
  }

  /** Two different ways round to the state by one word. */
  meetsAgain(state) {
    return this.#search([state, state], ([one, two], differ) => one === state && two === state && differ)
  }

  /** A word that goes round in `first`, round in `second`, and leads from the one to the other. */
  sharesOut(first, second) {
    return this.#search(
      [first, first, second],
      ([one, two, three]) => one === first && two === second && three === second,
    )
  }

  #search(from, isFound) {
    if (this.ends.has(from.at(-1))) return false
    const open = this.alphabet
      .filter((each) => from.every((state) => this.states[state].fits(each)))
      .map((before) => ({ at: from, before, differ: false }))
    const seen = new Set()
    for (let place = open.pop(); place; place = open.pop()) {
      for (const character of this.alphabet) {
        for (const next of combine(place.at.map((state) => [...this.steps(state, place.before, character)]))) {
          const at = next.map(({ to }) => to)
          // Where a reading may end there is a match: nothing fails, and nothing is tried in another way.
          if (this.ends.has(at.at(-1))) continue
          const differ = place.differ || at[0] !== at[1] || next[0].way !== next[1].way
          if (isFound(at, differ)) return true
          const key = `${at} ${differ} ${character}`
          if (seen.has(key)) continue
          seen.add(key)
          open.push({ at, before: character, differ })
        }
      }
    }
    return false
  }
}

function placesOf(exits, edge) {
  return exits.find(({ state }) => state === edge.from)?.places ?? []
}

function combine(lists) {
  return lists.reduce((rows, list) => rows.flatMap((row) => list.map((each) => [...row, each])), [[]])
}
