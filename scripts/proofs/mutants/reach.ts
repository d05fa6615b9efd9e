import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { MutatedTree } from './mutated-tree.ts'

/** The files of `src` in which a function runs when a file of tests does. */
interface ReachingTest {
  /** As it is built. */
  readonly test: string
  readonly files: readonly string[]
}

const FILE = 'scripts/proofs/mutants/reach.json'
/** More than three minutes have room for. */
const MOST_TESTS = 60
/** What needs a browser, a database or a checkout, which are as slow as many others, and what measures. */
const LEFT_OUT =
  /^dist\/(?:test\/(?:web|documents|postgres|http\/shared|versioning\/shared|scripts)|scripts\/test\/(?:bench|soak|ways|mutants|linear))\//

/**
 * Each list, in the order in which its tests are asked: those first that name a rule of the interface which the file names, then those whose
 * paths have most words of its path, and of these the one that reaches the least.
 */
type Reach = ReadonlyMap<string, readonly string[]>

/** The list that is kept. A file that is not in it was reached by nothing when it was made. */
export function keptReach(): Reach {
  const { tests, files } = JSON.parse(readFileSync(FILE, 'utf8')) as KeptReach // our own file
  return new Map(Object.entries(files).map(([path, places]) => [path, places.map((at) => tests[at] ?? '')]))
}

interface KeptReach {
  readonly tests: readonly string[]
  /** By the path of a file of `src`: places in the list of tests. */
  readonly files: Readonly<Record<string, readonly number[]>>
}

/** Runs every file of tests by itself under V8's coverage, and keeps the list. That takes half an hour. */
export async function collectReach(say: (sentence: string) => void): Promise<void> {
  const tree = await MutatedTree.make()
  try {
    const tests = ['test', 'scripts/test']
      .flatMap((folder) => testsBelow(`dist/${folder}`))
      .filter((test) => !LEFT_OUT.test(test))
      .sort()
    const reaching: ReachingTest[] = []
    for (const test of tests) {
      reaching.push({ test, files: await filesReached(tree, test) })
      say(`${reaching.length} of ${tests.length}: ${test}`)
    }
    await keepReach(reaching)
  } finally {
    tree.remove()
  }
}

function testsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${folder}/${name}`)
}

/** Those in whose functions something ran, in the process of the tests, its threads, and the node processes that inherit its environment. */
export async function filesReached(tree: MutatedTree, test: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reach-'))
  try {
    await tree.run(test, { most: 300_000, env: { NODE_V8_COVERAGE: folder } })
    const ours = `${pathToFileURL(tree.root).href}/dist/`
    const reached = new Set<string>()
    for (const name of readdirSync(folder)) {
      for (const { url, functions } of coverageIn(join(folder, name)))
        if (url.startsWith(`${ours}src/`) && functions.some(ran))
          reached.add(url.slice(ours.length).replace(/\.js(?:\?.*)?$/, '.ts'))
    }
    return [...reached].sort()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface CoveredScript {
  readonly url: string
  readonly functions: readonly CoveredFunction[]
}

/** Nothing, of a process that was killed while it wrote the file. */
function coverageIn(path: string): readonly CoveredScript[] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { result: readonly CoveredScript[] }).result // V8 wrote it
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

interface CoveredFunction {
  readonly functionName: string
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
}

/** A module as a whole runs wherever it is imported: that reaches nothing. */
function ran({ functionName, ranges: [whole] }: CoveredFunction): boolean {
  return whole !== undefined && whole.count > 0 && !(functionName === '' && whole.startOffset === 0)
}

/** Writes down the list. */
async function keepReach(reaching: readonly ReachingTest[]): Promise<void> {
  const rulesOf = new Map(reaching.map(({ test }) => [test, rulesIn(sourceOf(test))]))
  const tests = reaching.map(({ test }) => test)
  const lists = [...new Set(reaching.flatMap(({ files }) => files))].sort().map((path) => {
    const rules = rulesIn(path)
    const names = ({ test }: ReachingTest): number =>
      rulesOf.get(test)?.some((rule) => rules.includes(rule)) ? 1 : 0
    const places = reaching
      .filter(({ files }) => files.includes(path))
      .sort(
        (a, b) =>
          names(b) - names(a) ||
          sharedWords(b.test, path) - sharedWords(a.test, path) ||
          a.files.length - b.files.length,
      )
      .slice(0, MOST_TESTS)
      .map(({ test }) => tests.indexOf(test))
    return [path, places] as const
  })
  const kept: KeptReach = { tests, files: Object.fromEntries(lists) }
  const options = { ...(await resolveConfig(FILE)), parser: 'json' }
  writeFileSync(FILE, await format(JSON.stringify(kept), options))
}

function sourceOf(test: string): string {
  return test.replace(/^dist\//, '').replace(/\.js$/, '.ts')
}

/** The numbers of the rules of the interface that a file names. */
function rulesIn(path: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(/\binterface ((?:\d+\.\d+(?:, | and )?)+)/g)].flatMap(
    ([, numbers = '']) => numbers.match(/\d+\.\d+/g) ?? [],
  )
}

/** How many words of its path a file of tests shares with a file: those of its folders, and of its name. */
function sharedWords(test: string, path: string): number {
  const words = path
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .split(/[/-]/)
  const ofTest = test.split(/[/.-]/)
  return new Set(words.filter((word) => ofTest.includes(word))).size
}
