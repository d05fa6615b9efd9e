import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { markdownTable } from '../docs/generated-part.ts'
import type { CountedFile } from './count-way.ts'
import type { WayFigures } from './longer-ways.ts'
import type { MeasuredWay } from './measure-ways.ts'
import type { RanFunction } from './messages.ts'
import { WAYS } from './requests.ts'

/** The way that a newcomer reads first, and which the architecture has whole. */
const FIRST = 'commit'

/** The part of the architecture: the figures of all ways, and the files of the first one. */
export function waysPart(ways: readonly MeasuredWay[], hash: string): string {
  const figures = markdownTable([
    ['way', 'files', 'functions', 'lines', 'goal: files', 'functions', 'lines', 'what is sent'],
    ...ways.map(({ name, counted: { files, functions, lines } }) => {
      const { goal, says = '' } = WAYS.find((way) => way.name === name) ?? {}
      const goals = goal ? [goal.files, goal.functions, goal.lines].map(grouped) : ['', '', '']
      return [name, grouped(files.length), grouped(functions), grouped(lines), ...goals, says]
    }),
  ])
  const first = ways.find(({ name }) => name === FIRST)
  return `<!-- source ${hash} -->

${figures}
Lines are those of the compiled functions, from first to last, without blank ones and comments; a line counts once. The top level of a module is
no function, and neither are the fields of a class. A few functions more than here are allowed, since work that is left for later meets other work now and then.

### A ${FIRST}, file by file

In the order in which a file is first called, and in it each function; what has no name is only counted.

${first ? filesTable(first) : ''}`
}

/** The page of the other ways, whole. */
export async function waysPage(ways: readonly MeasuredWay[]): Promise<string> {
  const others = ways
    .filter(({ name }) => name !== FIRST)
    .map((way) => `## ${way.name}\n\n${filesTable(way)}`)
  const page = `# Ways

<!-- made by npm run ways from what runs; nothing is written here by hand -->

What runs for a request, file by file, in the order in which a file is first called. [The architecture](architecture.md#ways) says how it is counted, and has the way of a ${FIRST}.

${others.join('\n')}`
  return format(page, { ...(await resolveConfig('docs/ways.md')), parser: 'markdown' })
}

/** The hash of the source that was measured; undefined where none was. */
export function hashIn(page: string): string | undefined {
  return /<!-- source ([0-9a-f]{64}) -->/.exec(page)?.[1]
}

/** The figures that a page has, by the way's name. */
export function figuresIn(page: string): ReadonlyMap<string, WayFigures> {
  const rows = page.matchAll(/^\| ([a-z]+) +\| +([\d,]+) +\| +([\d,]+) +\| +([\d,]+) +\|/gm)
  return new Map(
    [...rows].map(([, name = '', ...figures]) => {
      const [files = 0, functions = 0, lines = 0] = figures.map((it) => Number(it.replaceAll(',', '')))
      return [name, { files, functions, lines }]
    }),
  )
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** Not aligned by prettier: its cells are too long for that. */
function filesTable({ counted, order }: MeasuredWay): string {
  const places = new Map(order.map((place, index) => [keyOf(place), index]))
  const placeOf = (it: RanFunction): number => places.get(keyOf(it)) ?? Infinity
  const rows = counted.files
    .map((file) => {
      const functions = [...file.functions].sort((a, b) => compare(placeOf(a), placeOf(b)))
      return { file, functions, place: functions[0] ? placeOf(functions[0]) : Infinity }
    })
    .sort((a, b) => compare(a.place, b.place))
    .map(({ file, functions }, index) => {
      const path = sourceOf(file)
      return [`${index + 1}`, `\`${path}\``, purposeOf(path), namesOf(functions), `${file.lines}`]
    })
  return `<!-- prettier-ignore -->\n${markdownTable([['', 'file', 'what it is for', 'functions that run', 'lines'], ...rows])}`
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b
}

function keyOf({
  url,
  start,
  end,
}: {
  readonly url: string
  readonly start: number
  readonly end: number
}): string {
  return `${url} ${start} ${end}`
}

/** The file that was compiled, where it is one of those; else the one that ran. */
function sourceOf({ url }: CountedFile): string {
  const path = relative(process.cwd(), fileURLToPath(url))
  const source = path.replace(/^dist\//, '').replace(/\.js$/, '.ts')
  return existsSync(source) ? source : path
}

/**
 * The first sentence that a file says of the first function or class that it exports, or else of anything that it exports, or else the first
 * that it says at all.
 */
function purposeOf(path: string): string {
  const text = readFileSync(path, 'utf8')
  const comment = PURPOSES.map((pattern) => pattern.exec(text)?.[1]).find((it) => it !== undefined) ?? ''
  const words = comment
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
  const sentence = /^.*?[^.\s]{2}\.(?= [A-Z`])/.exec(words)?.[0] ?? words
  // what is in backquotes stays as it is
  return sentence
    .split('`')
    .map((piece, index) => (index % 2 === 0 ? piece.replaceAll('<', '\\<') : piece))
    .join('`')
}

const COMMENT = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*/.source
const PURPOSES = [
  new RegExp(`${COMMENT}export (?:async )?(?:abstract )?(?:function|class)`),
  new RegExp(`${COMMENT}export `),
  new RegExp(COMMENT),
]

function namesOf(functions: readonly RanFunction[]): string {
  const names = [...new Set(functions.map(({ name }) => name).filter((name) => /^[#\w$ ]+$/.test(name)))]
  const unnamed = functions.filter(({ name }) => !/^[#\w$ ]+$/.test(name)).length
  return [...names.map((name) => `\`${name}\``), ...(unnamed > 0 ? [`${unnamed} without a name`] : [])].join(
    ', ',
  )
}
