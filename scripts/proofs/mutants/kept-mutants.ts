import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { format, resolveConfig } from 'prettier'

/** A small fault in `src` that the tests have to notice. It is kept by its text, so that it outlives moves of files and of lines. */
export interface Mutant {
  /** Where the text was when the mutant was chosen; where it is now, `placeOf` says. */
  readonly file: string
  readonly before: string
  readonly after: string
  /** One sentence: what it breaks. */
  readonly breaks: string
  /** The test that fails, as the last run found it. Such a test is asked first. */
  readonly killedBy?: Killer
  /** Why nothing that anybody could see is different. Such a mutant is not run. */
  readonly changesNothing?: string
}

/** A test that fails where the mutant is. */
export interface Killer {
  /** The file of tests, as it is built. */
  readonly file: string
  readonly test: string
}

const FILE = 'scripts/proofs/mutants/mutants.json'

/** Those that are kept, in the order in which they were chosen: the first is number 1. */
export function keptMutants(): readonly Mutant[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as readonly Mutant[] // our own file
}

/** Writes them down, as they are checked in. */
export async function keepMutants(mutants: readonly Mutant[]): Promise<void> {
  writeFileSync(
    FILE,
    await format(JSON.stringify(mutants), { ...(await resolveConfig(FILE)), parser: 'json' }),
  )
}

/** Where the text of a mutant is now, and what the file is with the mutant in it. */
export interface Place {
  readonly path: string
  readonly mutated: string
}

/**
 * Looks for the text of a mutant in its file, and then in every other of the sources; how it is indented does not matter. A sentence, where it is
 * nowhere or in several places: the mutant does not apply any more, and another has to take its place.
 */
export function placeOf(
  { file, before, after }: Pick<Mutant, 'file' | 'before' | 'after'>,
  sources: ReadonlyMap<string, string>,
): Place | string {
  const pattern = new RegExp(before.trim().split(/\s+/).map(literal).join('\\s+'), 'g')
  const own = sources.get(file)
  const candidates: readonly (readonly [string, string])[] = own?.match(pattern)
    ? [[file, own]]
    : [...sources]
  const found = candidates.flatMap(([path, text]) =>
    [...text.matchAll(pattern)].map((at) => ({ path, text, at })),
  )
  const [first] = found
  if (!first || found.length > 1)
    return `does not apply any more: its text is ${first ? `${found.length} times in src` : 'nowhere in src'}`
  const { path, text, at } = first
  return { path, mutated: text.slice(0, at.index) + after.trim() + text.slice(at.index + at[0].length) }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The text of each file of `src` but the page's, which tests in a browser reach. */
export function readSources(root = '.'): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('web/'))
      .sort()
      .map((name) => [`src/${name}`, readFileSync(join(root, 'src', name), 'utf8')]),
  )
}
