import { createHash } from 'node:crypto'
import { isDeviceName } from '../../../versioning/slugs/slug.ts'
import type { PlacedText } from '../../../versioning/texts/placed-text.ts'

/** The folders that texts lie in, in the root of a commit's tree. */
export const TEXT_FOLDERS: readonly string[] = ['prompt', 'parameters']

/** Of a folder, or of a file without `.md`. */
const PART = /^[a-z0-9][a-z0-9_-]{0,63}$/
const PATH = /^(?:prompt|parameters)(?:\/[a-z0-9][a-z0-9_-]{0,79})+\.md$/
const LONGEST_PATH = 200

/** A number is put behind a name that is taken. */
const MAX_NUMBERS_TRIED = 1000

/** Whether a marker may name this path (interface 7.16). */
export function isTextPath(path: string): boolean {
  return path.length <= LONGEST_PATH && PATH.test(path)
}

/**
 * Paths for a text that has no file yet, the best first. They say what it is, not where it stands: a message of a first revision is named
 * by its role, a later one also by its words, so that branches that each add one choose different files.
 */
export function* pathsFor(text: PlacedText, isFirst: boolean): Generator<string, void, undefined> {
  for (const path of candidates(text, isFirst)) if (isTextPath(path)) yield path
}

function* candidates(
  { keys, pointer, message, text }: PlacedText,
  isFirst: boolean,
): Generator<string, void, undefined> {
  const parts = keys.slice(1).map((key, at) => partOf(String(key), keys.slice(0, at + 2)))
  const isOfPrompt = message !== undefined && keys[1] === 'prompt'
  if (message && (isOfPrompt || !isFirst)) {
    const role = partOf(message.role, keys)
    const folder = isOfPrompt ? 'prompt' : folderOf(parts.slice(0, message.array.split('/').length - 2))
    yield* numbered(`${folder}/${role}${isFirst ? '' : `-${hashOf(text).slice(0, 6)}`}`)
  } else {
    yield `${folderOf(parts)}.md`
    yield `${folderOf([...parts.slice(0, -1), hashOf(pointer).slice(0, 10)])}.md`
  }
  yield `parameters/${hashOf(pointer).slice(0, 10)}.md`
}

function folderOf(parts: readonly string[]): string {
  return ['parameters', ...parts].join('/')
}

function* numbered(base: string): Generator<string, void, undefined> {
  yield `${base}.md`
  for (let number = 2; number <= MAX_NUMBERS_TRIED; number++) yield `${base}-${number}.md`
}

/** The key where a path may say it, else a hash of the place that the keys lead to. */
function partOf(key: string | undefined, place: readonly (string | number)[]): string {
  if (key !== undefined && PART.test(key) && !isDeviceName(key)) return key
  return hashOf(JSON.stringify(place)).slice(0, 10)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
