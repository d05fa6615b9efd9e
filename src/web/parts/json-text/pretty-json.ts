/** JSON with a member a line, to be read. Only the space between its tokens changes: numbers and the order of keys stay as they are. */
export function prettyJson(json: string): string {
  const out: string[] = []
  let depth = 0
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const before = out.at(-1)
    const isEmpty = (token === '}' && before === '{') || (token === ']' && before === '[')
    if (token === '}' || token === ']') {
      depth--
      if (!isEmpty) out.push(line(depth))
    } else if (before === '{' || before === '[') out.push(line(depth))
    out.push(token)
    if (token === '{' || token === '[') depth++
    if (token === ',') out.push(line(depth))
    if (token === ':') out.push(' ')
  }
  return out.join('')
}

/** Deeper levels are not moved further to the right. */
const DEEPEST = 60

function line(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, DEEPEST))}`
}
