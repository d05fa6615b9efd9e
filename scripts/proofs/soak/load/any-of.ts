/** Any of them. Throws a RangeError if there is none. */
export function anyOf<T>(choices: readonly T[]): T {
  const index = Math.floor(Math.random() * choices.length)
  if (index >= choices.length) throw new RangeError('there is nothing to choose from')
  // the index was just held against the length
  return choices[index] as (typeof choices)[number]
}
