import type { SourceFile } from './source-file.ts'

/** Files that import each other, directly or over others, types included: a sentence for each circle (Tarjan's algorithm). */
export function circles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const found: string[] = []

  const visit = (path: string): number => {
    let low = numbers.size
    const number = low
    numbers.set(path, number)
    lowest.set(path, low)
    stack.push(path)
    for (const next of byPath.get(path)?.imports ?? []) {
      if (!byPath.has(next)) continue
      if (!numbers.has(next)) low = Math.min(low, visit(next))
      else if (stack.includes(next)) low = Math.min(low, numbers.get(next) ?? low)
    }
    lowest.set(path, low)
    if (low === number) {
      const circle = stack.splice(stack.indexOf(path))
      if (circle.length > 1) found.push(`${circle.sort().join(', ')} import each other`)
    }
    return low
  }
  for (const { path } of files) if (!numbers.has(path)) visit(path)
  return found
}
