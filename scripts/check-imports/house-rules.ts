import { dirname } from 'node:path/posix'
import { groupBy } from '../../src/json/json-values.ts'
import type { SourceFile } from './source-file.ts'

const MOST_LINES = 500
/** A file no longer than this that one other imports belongs into that one. */
const TINY = 12

/** Folders of one kind, which may have any number of files. */
const OF_ONE_KIND = /\/(?:endpoints|evaluators|presets|types|commands|migrations)$/

/** A file has at most 500 lines. */
export function longFiles(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines, which is more than ${MOST_LINES}`)
}

/** A file of a few lines has more than one importer. Those that nobody imports are programs. */
export function tinyFiles(files: readonly SourceFile[], others: readonly SourceFile[]): string[] {
  const importers = groupBy(
    [...files, ...others].flatMap(({ path, imports }) => imports.map((target) => ({ path, target }))),
    ({ target }) => target,
  )
  return files
    .filter(({ path, lines }) => lines <= TINY && !OF_ONE_KIND.test(dirname(path)))
    .flatMap(({ path, lines }) => {
      const [only, ...more] = importers.get(path) ?? []
      if (!only || more.length > 0) return []
      return [`${path} has ${lines} lines and only ${only.path} imports it: put it there`]
    })
}

/** A name is exported by one file of a room. */
export function doubledNames(files: readonly SourceFile[]): string[] {
  const owners = groupBy(
    files.flatMap(({ path, exports }) => exports.map((name) => ({ name, path }))),
    ({ name, path }) => `${roomOf(path)} ${name}`,
  )
  return [...owners]
    .filter(([, places]) => places.length > 1)
    .map(([, places]) => `${places[0]?.name} is exported by ${places.map(({ path }) => path).join(' and ')}`)
}

/**
 * No list is handed to a function as its arguments, one for each item: past some hundred thousand items that overflows the stack, and the
 * lists of users are as long as users like.
 */
export function spreadArguments(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(SPREAD)].map(([call]) => {
      const line = text.slice(0, text.indexOf(call)).split('\n').length
      return `${path}:${line} spreads a list into the arguments of ${call.split('(')[0]}: take its items one by one`
    }),
  )
}

const SPREAD =
  /(?:\.(?:push|unshift)|Math\.(?:max|min)|String\.fromCharCode|\.apply)\((?:[^()[\]{}]*,\s*)?\s*\.\.\./g

/** The folder right below `src` that a file lies in. */
function roomOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}
