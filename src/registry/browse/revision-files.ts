import { invalid, Refusal } from '../../errors.ts'
import { type Oid, parseCommit, type TreeEntry } from '../../git/objects.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { HelpfulRefusal, nearNames } from '../../base/suggestions.ts'
import type { ObjectReader } from '../payload/tree-files.ts'
import { readBytes, readTree } from '../payload/tree-files.ts'
import type { Window } from '../store/pagination.ts'
import type { RevisionLocation } from '../revisions/revision.ts'

/** A file of a revision's tree. A symbolic link is a file with its target's path; it is not followed. */
export interface RevisionFile {
  readonly path: string
  readonly size: number
  readonly oid: Oid
}

export const MOST_FILES = 1000

/**
 * Maximum number of consecutive folders without a file; git stores no empty folders, so more are an attack.
 */
const MOST_BARREN = 65_536

/** A folder on the path to the walk's position. */
interface Level {
  readonly entries: readonly TreeEntry[]
  readonly prefix: string
  next: number
}

/**
 * A page of a revision's files in git's order, behind the file with the path `next`. Leaves out submodules,
 * whose files are elsewhere. Throws `invalid_cursor` if `next` is no file's path.
 */
export async function listFiles(
  place: RevisionLocation,
  { limit = MOST_FILES, next }: { readonly limit?: number | undefined; readonly next?: string | undefined },
  gone: AbortSignal,
): Promise<Window<RevisionFile>> {
  const { objects } = place.artifact.repository
  const levels = await levelsUpTo(objects, await treeOf(place), next)
  const slice = new TimeSlice(gone)
  const rows: RevisionFile[] = []
  let barren = 0
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const { entries, prefix } = level
    const entry = entries[level.next++]
    if (!entry) levels.pop()
    else if (entry.mode === '40000') {
      if (++barren > MOST_BARREN) throw tooManyFolders(place)
      levels.push({ entries: await readTree(objects, entry.oid), prefix: `${prefix}${entry.name}/`, next: 0 })
    } else if (entry.mode !== '160000') {
      if (rows.length === limit) return { rows, next: rows.at(-1)?.path }
      const { length: size } = await readBytes(objects, entry.oid, 'blob')
      rows.push({ path: prefix + entry.name, size, oid: entry.oid })
      barren = 0
    }
    await slice.pause()
  }
  return { rows, next: undefined }
}

/**
 * The folders from the root to this file, each positioned behind the path; without a path, the start of the
 * root.
 */
async function levelsUpTo(source: ObjectReader, root: Oid, path: string | undefined): Promise<Level[]> {
  const levels: Level[] = []
  let tree: Oid | undefined = root
  let prefix = ''
  for (const name of path?.split('/') ?? []) {
    const entries: readonly TreeEntry[] = tree === undefined ? [] : await readTree(source, tree)
    const index = entries.findIndex((entry) => entry.name === name)
    levels.push({ entries, prefix, next: index + 1 })
    prefix += `${name}/`
    const entry = entries[index]
    if (!entry) throw unknownFile(path ?? '')
    tree = entry.mode === '40000' ? entry.oid : undefined
  }
  if (path === undefined) return [{ entries: await readTree(source, root), prefix, next: 0 }]
  if (tree !== undefined) throw unknownFile(path)
  return levels
}

function unknownFile(next: string): Refusal {
  return invalid(
    ['query', 'next'],
    `${JSON.stringify(next.slice(0, 200))} is not the path of a file of this revision. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}

function tooManyFolders({ artifact, oid }: RevisionLocation): Refusal {
  return new Refusal(
    'damaged_repository',
    `The tree of commit ${oid} of ${artifact.repository.path} unfolds to more folders without files than can be walked. ` +
      'Commit a repaired version with git.',
  )
}

/**
 * The file at a path of a revision: its oid and bytes. Refuses a path with an empty name, `.` or `..`
 * (`invalid_request`), and a path without a file (`file_not_found`), suggesting a similar one.
 */
export async function findFile(
  place: RevisionLocation,
  path: string,
): Promise<{ readonly oid: Oid; readonly name: string; readonly bytes: Buffer }> {
  const { objects } = place.artifact.repository
  const names = path.split('/')
  const odd = names.find((name) => name === '' || name === '.' || name === '..')
  if (odd !== undefined)
    throw invalid(
      ['path', 'path'],
      `a path goes from the root of the revision down, and ${JSON.stringify(odd)} is the name of nothing there. GET …/files lists the paths.`,
      'invalid_path',
    )
  let entries = await readTree(objects, await treeOf(place))
  let folder = ''
  for (const [index, name] of names.entries()) {
    const entry = entries.find((it) => it.name === name)
    const isLast = index === names.length - 1
    if (entry?.mode === '160000')
      throw missing(
        place,
        path,
        `"${folder}${name}" is a submodule, whose files lie in a repository of their own.`,
      )
    if (!entry || (!isLast && entry.mode !== '40000'))
      throw missingNear(place, path, { folder, name, entries })
    if (isLast && entry.mode === '40000')
      throw missing(place, path, 'It is a folder: GET …/files lists the files in it.')
    if (isLast) return { oid: entry.oid, name, bytes: await readBytes(objects, entry.oid, 'blob') }
    entries = await readTree(objects, entry.oid)
    folder += `${name}/`
  }
  throw new Error(`the path ${path} has no last name`)
}

interface Missed {
  readonly folder: string
  readonly name: string
  readonly entries: readonly TreeEntry[]
}

/** Suggests a similar name in the deepest existing folder of the path, else names that folder. */
function missingNear(place: RevisionLocation, path: string, { folder, name, entries }: Missed): Refusal {
  return missing(place, path, async () => {
    const known = entries.map((entry) => [entry.name.toLowerCase(), `${folder}${entry.name}`] as const)
    const [near] = (await nearNames(name.toLowerCase(), known)) ?? []
    if (near !== undefined) return `Did you mean "${near}"?`
    if (folder !== '') return `The nearest that there is is the folder "${folder.slice(0, -1)}".`
    const some = entries.slice(0, 5).map((entry) => entry.name)
    return some.length === 0
      ? 'It has no files.'
      : `Its root has ${some.join(', ')}${entries.length > 5 ? ' and more' : ''}.`
  })
}

function missing(
  { artifact, oid }: RevisionLocation,
  path: string,
  why: string | (() => Promise<string>),
): Refusal {
  const sentence = `Commit ${oid} of "${artifact.slug}" has no file ${JSON.stringify(path.slice(0, 200))}.`
  return new HelpfulRefusal('file_not_found', {
    family: artifact.family.name,
    sentenceOf: () => sentence,
    help: async () => ({ sentence: typeof why === 'string' ? why : await why() }),
  })
}

async function treeOf({ artifact, oid }: RevisionLocation): Promise<Oid> {
  return parseCommit(await readBytes(artifact.repository.objects, oid, 'commit')).tree
}
