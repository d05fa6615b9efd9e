/** Named things as records list them (contract/handlers 5.2): what `membersOf` writes of each, then its name in `attributes.key`. */
export function namedList<T>(named: ReadonlyMap<string, T>, membersOf: (value: T) => string): string {
  let text = ''
  for (const [key, value] of named)
    text += `${text === '' ? '[' : ','}{${membersOf(value)}"attributes":{"key":${JSON.stringify(key)}}}`
  return `${text}]`
}
