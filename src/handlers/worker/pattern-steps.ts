/**
 * How many steps the search for a regular expression takes at most in a text of so many characters; Infinity where that is more than
 * can be counted. It counts every way a backtracking machine could try, from every start, as if each led nowhere, so it may say far too
 * much but never too little. Takes what compiles, at most some thousand characters of it: one call a level.
 */
export function patternSteps({ source, unicode }: RegExp, characters: number): number {
  return (characters + 1) * new Counter(source, unicode, characters).alternatives().steps
}

/** A part of a pattern, tried from one start. */
interface Part {
  /** In how many ways it can match. */
  readonly ways: number
  /** What it takes to try them all. */
  readonly steps: number
}

const ONE: Part = { ways: 1, steps: 1 }

const QUANTIFIER = /(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})\??/y
const GROUP = /\((?:\?(?:<?[=!]|<[^>]*>|[a-z-]*:))?/y
const CLASS = /\[(?:[^\]\\]|\\[^])*\]/y
const BACK_REFERENCE = /\\(?:[1-9]|k)/y
const LONG_ESCAPE = /\\[pPu]\{[^}]*\}/y

class Counter {
  readonly #source: string
  readonly #unicode: boolean
  readonly #characters: number
  #at = 0

  constructor(source: string, unicode: boolean, characters: number) {
    this.#source = source
    this.#unicode = unicode
    this.#characters = characters
  }

  /** What stands between two brackets, or in the whole. */
  alternatives(): Part {
    let sum = this.#sequence()
    while (this.#source.charAt(this.#at) === '|') {
      this.#at++
      const next = this.#sequence()
      sum = { ways: sum.ways + next.ways, steps: sum.steps + next.steps + 1 }
    }
    return sum
  }

  #sequence(): Part {
    let all = ONE
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) {
      const next = this.#repeated(this.#one())
      all = { ways: all.ways * next.ways, steps: all.steps + all.ways * next.steps }
    }
    return all
  }

  #one(): Part {
    const group = this.#read(GROUP)
    if (group) {
      const inner = this.alternatives()
      this.#at++
      // what a look around found is not tried again in another way
      return /[=!]$/.test(group[0]) ? { ways: 1, steps: inner.steps + 1 } : inner
    }
    // the text that is referred to may be as long as all of it
    if (this.#read(BACK_REFERENCE)) return { ways: 1, steps: this.#characters + 1 }
    if (this.#read(CLASS) || (this.#unicode && this.#read(LONG_ESCAPE))) return ONE
    this.#at += this.#source.charAt(this.#at) === '\\' ? 2 : 1
    return ONE
  }

  #repeated(part: Part): Part {
    const quantifier = this.#read(QUANTIFIER)
    if (!quantifier) return part
    const [, sign, least = '', comma, most = ''] = quantifier
    const from = sign ? Number(sign === '+') : Number(least)
    // a repetition that matches nothing ends a loop
    const endless = from + this.#characters
    const to = sign ? (sign === '?' ? 1 : endless) : comma ? (most ? Number(most) : endless) : from
    return repeat(part, from, to)
  }

  #read(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#at
    const found = what.exec(this.#source)
    if (found) this.#at = what.lastIndex
    return found
  }
}

function repeat({ ways, steps }: Part, from: number, to: number): Part {
  if (ways === 1) return { ways: to - from + 1, steps: 1 + to * (steps + 1) }
  if (ways === Infinity) return { ways, steps: ways }
  const tries = (ways ** (to + 1) - 1) / (ways - 1)
  return { ways: tries, steps: 1 + tries * (steps + 1) }
}
