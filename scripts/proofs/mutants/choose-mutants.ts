import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import { type SeededRandom, seededRandom } from '../../../test/support/values/seeded-random.ts'
import { measureWays } from '../../ways/measure-ways.ts'
import { type Mutant, placeOf, readSources } from './kept-mutants.ts'

/** A change of some characters of a file. */
interface Change {
  readonly kind: 'negate' | 'remove' | 'constant' | 'return early'
  readonly start: number
  readonly end: number
  readonly to: string
}

/**
 * Mutants of the lines that run for the requests whose ways are measured, in the order in which the seed has them, one a file. Not each of them
 * compiles; who keeps them leaves out what does not.
 */
export async function chooseMutants(
  seed: number,
  say: (sentence: string) => void,
): Promise<readonly (Mutant & { readonly kind: string })[]> {
  const lines = linesOf(await measureWays(say, { ordered: false }))
  const sources = readSources()
  const random = seededRandom(seed)
  const chosen = new Map<string, Mutant & { readonly kind: string }>()
  for (const { path, line } of shuffled(lines, random)) {
    const text = sources.get(path)
    if (text === undefined || chosen.has(path)) continue
    const changes = changesOf(path, text).filter(({ start }) => lineAt(text, start) === line)
    const kinds = [...new Set(changes.map(({ kind }) => kind))]
    if (kinds.length === 0) continue
    const kind = random.pick(kinds)
    const change = random.pick(changes.filter((it) => it.kind === kind))
    chosen.set(path, { kind, file: path, ...asText(path, change, sources), breaks: '' })
  }
  return [...chosen.values()]
}

/** The lines of the sources of which the compiled functions are made that ran. */
function linesOf(ways: Awaited<ReturnType<typeof measureWays>>): readonly { path: string; line: number }[] {
  const all = new Set<string>()
  for (const { url, functions } of ways.flatMap(({ counted }) => counted.files)) {
    const compiled = fileURLToPath(url)
    const path = relative('dist', compiled).replace(/\.js$/, '.ts')
    if (!path.startsWith('src/')) continue
    const text = readFileSync(compiled, 'utf8')
    const map = new SourceMap(JSON.parse(readFileSync(`${compiled}.map`, 'utf8')) as SourceMapPayload) // tsc wrote it
    const compiledLines = text.split('\n')
    for (const { start, end } of functions) {
      const last = lineAt(text, end - 1)
      for (let line = lineAt(text, start); line <= last; line++) {
        const entry = map.findEntry(line, (compiledLines[line] ?? '').search(/\S|$/))
        if ('originalLine' in entry) all.add(`${path} ${entry.originalLine}`)
      }
    }
  }
  return [...all].sort().map((key) => {
    const [path = '', line] = key.split(' ')
    return { path, line: Number(line) }
  })
}

/** From 0. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length - 1
}

function shuffled<T>(items: readonly T[], random: SeededRandom): readonly T[] {
  const all = [...items]
  for (let left = all.length; left > 1; left--) {
    const index = random.below(left)
    const last = all[left - 1]
    all[left - 1] = all[index] as T // below `left`
    all[index] = last as T // at least one is left
  }
  return all
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** Every change of the four kinds that a file has a place for. */
function changesOf(path: string, text: string): readonly Change[] {
  const changes: Change[] = []
  const visit = (node: Node, parent: Node | undefined, isVoid: boolean): void => {
    if (node.type.startsWith('TS') && !/^TS(?:As|Satisfies|NonNull)/.test(node.type)) return
    if (node.type === 'ImportDeclaration') return
    const at = { start: node.start, end: node.end }
    const was = text.slice(node.start, node.end)
    const { test, value, body, returnType } = node
    if (isNode(test) && /^(?:If|Conditional|While|For)/.test(node.type))
      changes.push({
        kind: 'negate',
        start: test.start,
        end: test.end,
        to: `!(${text.slice(test.start, test.end)})`,
      })
    if (node.type === 'ExpressionStatement' && !was.startsWith('super'))
      changes.push({ kind: 'remove', ...at, to: parent?.type === 'BlockStatement' ? '' : '{}' })
    if (node.type === 'Literal' && parent?.['key'] !== node) {
      if (typeof value === 'number') changes.push({ kind: 'constant', ...at, to: `${value + 1}` })
      else if (typeof value === 'boolean') changes.push({ kind: 'constant', ...at, to: `${!value}` })
      // what people read is another matter
      else if (typeof value === 'string' && value !== '' && !value.includes(' '))
        changes.push({ kind: 'constant', ...at, to: "''" })
    }
    const isFunction = /Function/.test(node.type)
    const isNowVoid = isFunction
      ? isNode(returnType) &&
        /^:\s*(?:void|Promise<void>)$/.test(text.slice(returnType.start, returnType.end))
      : isVoid
    if (node.type === 'BlockStatement' && isNowVoid && Array.isArray(body))
      for (const { start } of body.filter(isNode))
        changes.push({ kind: 'return early', start, end: start, to: 'return;\n' })
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, node, isNowVoid)
  }
  visit(parseSync(path, text, { lang: 'ts' }).program as unknown as Node, undefined, false)
  return changes
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** The change with so many whole lines around it that they are nowhere else. */
function asText(
  file: string,
  { start, end, to }: Change,
  sources: ReadonlyMap<string, string>,
): Pick<Mutant, 'before' | 'after'> {
  const text = sources.get(file) ?? ''
  const lines = text.split('\n')
  let [first, last] = [lineAt(text, start), lineAt(text, end)]
  for (;;) {
    const from = lines.slice(0, first).join('\n').length + (first > 0 ? 1 : 0)
    const before = lines.slice(first, last + 1).join('\n')
    const after = before.slice(0, start - from) + to + before.slice(end - from)
    if (typeof placeOf({ file: '', before, after }, sources) !== 'string') return { before, after }
    if (first > 0) first--
    if (last < lines.length - 1) last++
  }
}
