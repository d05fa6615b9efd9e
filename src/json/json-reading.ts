import { JsonScanner } from './json-scanner.ts'
import { boundedText } from './json-values.ts'
import type { Json } from './json.ts'
import { ExactObject, MOST_PLAIN_KEYS, isAwkwardKey } from './json.ts'

export interface ParseJsonOptions {
  /** How many arrays and objects may be open at once; 128 unless said. */
  readonly maxDepth?: number
  /**
   * How many values there may be: the whole, and all members and items at any depth; any number unless said. Where it is said, no object
   * may have more than MOST_MEMBERS of them.
   */
  readonly maxValues?: number
}

/** Adding to an object of many keys, comparing and merging it takes V8 seconds, in one go. */
export const MOST_MEMBERS = 50_000

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * One reading of a text, which can be put down after any value and taken up again: what is open lies in stacks, not in calls. (Measured: as
 * quick as calls that call themselves.)
 */
export class JsonReading extends JsonScanner {
  readonly maxDepth: number
  readonly maxValues: number
  /** How many values began so far. */
  values = 0
  /** The whole value, once `run` is through. */
  result: Json = null
  /** What is open around the innermost, from the outside in, with the key that each is at and its number of keys. */
  readonly outer: Container[] = []
  readonly outerKeys: string[] = []
  readonly outerSizes: number[] = []
  /** What is open innermost, if anything is, with the key that it is at (of an object), and its number of keys. */
  inner: Container | undefined
  key = ''
  size = 0
  /** Whether the place where reading stopped is between two members of the innermost, not inside one. */
  isBetween = false

  constructor(text: string, { maxDepth = 128, maxValues = Infinity }: ParseJsonOptions) {
    super(text)
    this.maxDepth = maxDepth
    this.maxValues = maxValues
    if (text.charCodeAt(0) === 0xfeff) {
      this.fail('syntax', 'The text begins with a byte order mark; send it without.')
    }
  }

  /** Reads on for so many values and so much text; whether that was the rest. */
  run(values: number, length: number): boolean {
    const stop = this.values + values
    const end = this.pos + length
    for (;;) {
      if (this.values >= stop || this.pos > end) return false
      if (++this.values > this.maxValues) this.tooMany()
      let value = this.begin()
      while (value !== undefined) {
        const { inner } = this
        if (inner === undefined) return this.finish(value)
        if (Array.isArray(inner)) inner.push(value)
        else if (inner instanceof ExactObject) inner.set(this.key, value)
        else inner[this.key] = value
        value = this.afterMember(inner)
      }
    }
  }

  finish(value: Json): true {
    this.space()
    if (this.pos < this.text.length) this.unexpected('the end of the text')
    this.result = value
    return true
  }

  /** Reads the value that begins here; undefined if it is an array or object with members: the first of them begins here then. */
  begin(): Json | undefined {
    const char = this.space()
    if (char === QUOTE) return this.string(false)
    if (char === OPEN_BRACE) {
      this.enter()
      if (this.space() === CLOSE_BRACE) {
        this.pos++
        return {}
      }
      this.open({})
      this.readKey()
      return undefined
    }
    if (char === OPEN_BRACKET) {
      this.enter()
      if (this.space() === CLOSE_BRACKET) {
        this.pos++
        return []
      }
      this.open([])
      return undefined
    }
    if (char === MINUS || (char >= ZERO && char <= NINE)) return this.number(char)
    if (this.word('true')) return true
    if (this.word('false')) return false
    if (this.word('null')) return null
    return this.unexpected('a value')
  }

  /** Reads what stands after a member of the innermost; answers that if it ends here, undefined if another member begins. */
  afterMember(inner: Container): Json | undefined {
    const char = this.space()
    const isArray = Array.isArray(inner)
    if (char === COMMA) {
      this.pos++
      if (!isArray) this.readKey()
      return undefined
    }
    if (char !== (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) {
      this.isBetween = true
      this.unexpected(isArray ? '"," or "]"' : '"," or "}"')
    }
    this.pos++
    this.inner = this.outer.pop()
    this.key = this.outerKeys.pop() ?? ''
    this.size = this.outerSizes.pop() ?? 0
    return inner
  }

  /** Steps over the opening brace or bracket. */
  enter(): void {
    if (this.depth() >= this.maxDepth) {
      this.fail('too_deep', `The value is nested more than ${this.maxDepth} levels deep; send a flatter one.`)
    }
    this.pos++
  }

  depth(): number {
    return this.inner === undefined ? 0 : this.outer.length + 1
  }

  open(container: Container): void {
    if (this.inner !== undefined) {
      this.outer.push(this.inner)
      this.outerKeys.push(this.key)
      this.outerSizes.push(this.size)
    }
    this.inner = container
    this.size = 0
  }

  /** Reads a key of the innermost, which is an object, and the colon after it. */
  readKey(): void {
    this.isBetween = true
    if (this.space() !== QUOTE) this.unexpected('a key in double quotes')
    const start = this.pos
    const key = this.string(true)
    this.isBetween = false
    this.key = key
    let inner = this.inner as ObjectContainer // who asks for a key has just opened an object, or is in one
    if (!(inner instanceof ExactObject) && (isAwkwardKey(key) || this.size >= MOST_PLAIN_KEYS)) {
      this.inner = inner = new ExactObject(Object.entries(inner))
    }
    if (++this.size > MOST_MEMBERS && this.maxValues < Infinity) this.tooManyMembers()
    // a member is never undefined, so only a hit (own, or the prototype's) pays for the second question
    if (
      inner instanceof ExactObject ? inner.has(key) : inner[key] !== undefined && Object.hasOwn(inner, key)
    ) {
      this.pos = start
      const found = JSON.stringify(boundedText(key, LONGEST_SHOWN))
      this.fail('duplicate_key', `The key ${found} is given twice in one object; give it once.`)
    }
    if (this.space() !== COLON) this.unexpected('":" after the key')
    this.pos++
  }

  tooMany(): never {
    this.space()
    this.fail(
      'too_many_values',
      `There are more than ${this.maxValues} values (members and items, nested ones included); send fewer at once.`,
    )
  }

  tooManyMembers(): never {
    this.fail(
      'too_many_values',
      `An object has more than ${MOST_MEMBERS} members; send a list, or several objects.`,
    )
  }

  /** The way from the root to where reading is. */
  path(): (string | number)[] {
    const { inner } = this
    const path = this.outer.map((container, level) => stepOf(container, this.outerKeys[level]))
    if (inner !== undefined && !this.isBetween) path.push(stepOf(inner, this.key))
    return path
  }
}

type ObjectContainer = Record<string, Json> | ExactObject
type Container = Json[] | ObjectContainer

/** Keys may be as long as the text; a sentence shows so much of one. */
const LONGEST_SHOWN = 200

function stepOf(container: Container, key = ''): string | number {
  return Array.isArray(container) ? container.length : boundedText(key, LONGEST_SHOWN)
}
