/** A JSON text of about so many bytes. */
export type MakeText = (bytes: number) => string

/** Values of JSON whose cost is out of proportion to their bytes, by what they are. */
export const HOSTILE_VALUES: Readonly<Record<string, MakeText>> = {
  'many {}': (bytes) => list('{}', bytes),
  'many 0': (bytes) => list('0', bytes),
  'many keys': (bytes) => numbered((number) => `"k${number}":0`, bytes, '{', '}'),
  'small objects': (bytes) => list('{"a":1,"b":"x"}', bytes),
  'deep nests': (bytes) => list('['.repeat(100) + ']'.repeat(100), bytes),
  'long text': (bytes) => `"${'x'.repeat(Math.max(0, bytes - 2))}"`,
  'random text': (bytes) => `"${randomText(Math.max(0, bytes - 2))}"`,
  'escaped text': (bytes) => `"${'\\u00e9'.repeat(bytes / 6)}"`,
  'odd numbers': (bytes) => list('1.00000000000000000001', bytes),
}

/** The same at each run, and nothing that compresses. */
function randomText(length: number): string {
  const words = new Uint32Array(Math.ceil((length * 3) / 16) + 1)
  for (let at = 0, seed = 1; at < words.length; at++)
    words[at] = seed = Math.imul(seed, 1_664_525) + 1_013_904_223
  return Buffer.from(words.buffer).toString('base64').slice(0, length)
}

/** A JSON array of `item` again and again. */
export function list(item: string, bytes: number): string {
  const count = Math.max(0, Math.floor((bytes - 1) / (item.length + 1)) - 1)
  return `[${`${item},`.repeat(count)}${item}]`
}

/** What `itemOf` makes of 0, 1, 2, … between two brackets. */
export function numbered(itemOf: (number: number) => string, bytes: number, open = '[', close = ']'): string {
  const items: string[] = []
  for (let length = 2, number = 0; length < bytes; number++) {
    const item = itemOf(number)
    items.push(item)
    length += item.length + 1
  }
  return open + items.join(',') + close
}

/** The text of an object with one member. */
export function inside(key: string, make: MakeText): MakeText {
  return (bytes) => `{${JSON.stringify(key)}:${make(Math.max(0, bytes - key.length - 5))}}`
}
