import { groupBy } from '../../src/base/json/json-values.ts'
import { neededFiles, type SourceFile } from './source-file.ts'
import { MOST_UNFOLDED, TABLES, UNFOLDED } from './unfolded.ts'

const MOST_LINES = 500
/** Two files that have no more together are one, where one of them serves only the other. */
const FOLDED_LINES = 400

/** A file has at most 500 lines. */
export function longFiles(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines, which is more than ${MOST_LINES}`)
}

/**
 * A file that one other file of its room imports is one file with it, where both have at most 400 lines together: but for what a table lists
 * beside its kind, and the files that `unfolded.ts` names with a reason.
 */
export function foldableFiles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const needed = neededFiles(files)
  const importers = groupBy(
    files.flatMap((file) => (needed.get(file.path) ?? []).map((target) => ({ file, target }))),
    ({ target }) => target,
  )
  const foldable = files.filter(({ path, lines }) => {
    const [only, ...more] = importers.get(path) ?? []
    if (!only || more.length > 0 || TABLES.includes(only.file.path)) return false
    return roomOf(only.file.path) === roomOf(path) && only.file.lines + lines <= FOLDED_LINES
  })
  const paths = foldable.map(({ path }) => path)
  const named = Object.keys(UNFOLDED).length
  return [
    ...(named > MOST_UNFOLDED
      ? [`scripts/check-imports/unfolded.ts names ${named} files, which is more than ${MOST_UNFOLDED}`]
      : []),
    ...paths
      .filter((path) => UNFOLDED[path] === undefined)
      .map((path) => `${path} has one importer, ${importers.get(path)?.[0]?.file.path}: put it there`),
    ...Object.keys(UNFOLDED)
      .filter((path) => isOf(files, path) && !(byPath.has(path) && paths.includes(path)))
      .map((path) => `${path} need not be named in scripts/check-imports/unfolded.ts`),
  ]
}

/** Whether a path is one of the page, where the files are those of the page, or of the server. */
function isOf([first]: readonly SourceFile[], path: string): boolean {
  return first !== undefined && path.startsWith('src/web/') === first.path.startsWith('src/web/')
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

/** The folder right below `src`, or below the page's own, that a file lies in. */
function roomOf(path: string): string {
  const parts = path.split('/').slice(0, -1)
  return parts.slice(0, parts[1] === 'web' ? 3 : 2).join('/')
}
