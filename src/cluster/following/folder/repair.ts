import { basename, dirname } from 'node:path/posix'
import { TimeSlice } from '../../../base/scheduling.ts'
import { BUILD_PREFIX, buildFolder, layOut } from '../../../git/store.ts'
import { identityName, thisProcess } from '../../../storage/files.ts'
import { readAllRefs } from '../../../git/refs.ts'
import { STAMP_FILE, TRASH_FOLDER } from '../../../git/trash.ts'
import { type Copy, placeOf, foldersOf } from './copy.ts'
import { placePacks } from './place-pack.ts'
import { setRefs } from './set-refs.ts'
import { NotInLog, type RepositoryState } from '../shared-log.ts'

/** The result of a repair. */
export interface Repaired {
  /** The versions that the repositories now have. */
  readonly versions: ReadonlyMap<string, number>
  /** The repositories that differed from the log. */
  readonly changed: ReadonlySet<string>
}

const REPOSITORIES_PER_PAGE = 200

const MAX_ATTEMPTS = 5

/**
 * Makes the repositories in the folder equal to the log, whatever their refs are: for a new folder, one that is ahead of the database after a
 * failover, or one that is too far behind. With `only`, handles only these repositories.
 */
export async function repair(copy: Copy, only?: readonly string[]): Promise<Repaired> {
  const versions = new Map<string, number>()
  const changed = new Set<string>()
  for await (const states of only ? pagesOf(copy, only) : allPages(copy)) {
    const page = await takeStates(copy, states)
    for (const [repository, version] of page.versions) versions.set(repository, version)
    for (const repository of page.changed) changed.add(repository)
  }
  const known = only ?? repositoriesIn(copy)
  for (const repository of await goneOf(
    copy,
    known.filter((it) => !versions.has(it)),
  ))
    if (remove(copy, repository)) changed.add(repository)
  return { versions, changed }
}

/** Makes these repositories equal to their states in the log. */
export async function takeStates(
  copy: Copy,
  states: ReadonlyMap<string, RepositoryState>,
): Promise<Repaired> {
  const versions = new Map<string, number>()
  const changed = new Set<string>()
  const slice = new TimeSlice()
  for (const [repository, state] of states) {
    const found = await repairOne(copy, repository, state)
    if (found.version !== undefined) versions.set(repository, found.version)
    if (found.isChanged) changed.add(repository)
    if (slice.isOver) await slice.rest()
  }
  return { versions, changed }
}

/** The states of these repositories, page by page to bound the memory. */
async function* pagesOf(
  { log }: Copy,
  repositories: readonly string[],
): AsyncGenerator<ReadonlyMap<string, RepositoryState>> {
  for (let at = 0; at < repositories.length; at += REPOSITORIES_PER_PAGE)
    yield await log.states(repositories.slice(at, at + REPOSITORIES_PER_PAGE))
}

/** The states of all repositories, page by page. */
async function* allPages({ log }: Copy): AsyncGenerator<ReadonlyMap<string, RepositoryState>> {
  for (let last = ''; ;) {
    const page = await log.statesBehind(last, REPOSITORIES_PER_PAGE)
    const names = [...page.keys()]
    if (names.length === 0) return
    yield page
    last = names.at(-1) ?? ''
  }
}

/** The repositories that the log does not have. The log is asked again, because this server may have created one meanwhile. */
async function goneOf({ log }: Copy, repositories: readonly string[]): Promise<readonly string[]> {
  if (repositories.length === 0) return repositories
  const there = await log.versions(repositories)
  return repositories.filter((repository) => !there.has(repository))
}

/**
 * Removes every repository from the folder, because the machine may have lost power. A copy is not synced, so a pack may be incomplete
 * although every ref is correct. The folder is filled again afterwards.
 */
export function emptyFolder(copy: Copy): void {
  for (const repository of repositoriesIn(copy)) remove(copy, repository)
}

/** The repository's version, undefined if it is gone, and whether something was changed. */
interface RepairedOne {
  readonly version: number | undefined
  readonly isChanged: boolean
}

/** Retries with the current state if the log has replaced packs since the state was read. */
async function repairOne(copy: Copy, repository: string, read: RepositoryState): Promise<RepairedOne> {
  let state: RepositoryState | undefined = read
  for (let attempt = 1; state !== undefined; attempt++) {
    try {
      return { version: state.version, isChanged: await makeSo(copy, repository, state) }
    } catch (error) {
      if (!(error instanceof NotInLog) || attempt === MAX_ATTEMPTS) throw error
      state = (await copy.log.states([repository])).get(repository)
    }
  }
  return { version: undefined, isChanged: remove(copy, repository) }
}

/** Answers whether something was changed. */
async function makeSo(copy: Copy, repository: string, state: RepositoryState): Promise<boolean> {
  const { fs, packs } = copy
  const { live, trashed } = foldersOf(copy, repository)
  const wanted = state.trashed === undefined ? live : trashed
  // This server may be about to place the missing repository itself.
  if (placeOf(copy, repository) === undefined) await copy.untilPlaced()
  const found = placeOf(copy, repository)
  if (found === undefined) {
    await build(copy, repository, state, wanted)
    return true
  }
  if (found !== wanted) {
    packs.drop(found)
    fs.makeDir(dirname(wanted))
    fs.removeTree(wanted)
    fs.rename(found, wanted)
  }
  stamp(copy, wanted, state)
  return (await repairRefs(copy, repository, state, wanted)) || found !== wanted
}

async function repairRefs(
  copy: Copy,
  repository: string,
  { version, head, refs, packs }: RepositoryState,
  gitdir: string,
): Promise<boolean> {
  const there = readAllRefs(copy.fs, gitdir)
  const names = new Set([...there.refs.keys(), ...refs.keys()])
  const moves: { ref: string; target: string | undefined }[] = [...names]
    .filter((ref) => there.refs.get(ref) !== refs.get(ref) && !copy.own.isNewer(repository, ref, version))
    .map((ref) => ({ ref, target: refs.get(ref) }))
  if (there.head !== `ref: refs/heads/${head}`) moves.push({ ref: 'HEAD', target: `ref: refs/heads/${head}` })
  if (moves.length === 0) return false
  await placePacks(copy.fs, copy.log, { gitdir, repository }, packs)
  await setRefs(copy, [{ gitdir, repository, version, moves }])
  return true
}

async function build(copy: Copy, repository: string, state: RepositoryState, gitdir: string): Promise<void> {
  const { fs, log } = copy
  fs.makeDir(dirname(gitdir))
  const aside = buildFolder(fs, dirname(gitdir))
  try {
    layOut(fs, aside, state.refs, state.head)
    await placePacks(fs, log, { gitdir: aside, repository }, state.packs)
    stamp(copy, aside, state)
    fs.removeTree(gitdir)
    fs.rename(aside, gitdir)
  } catch (error) {
    fs.removeTree(aside)
    throw error
  }
}

function stamp({ fs }: Copy, gitdir: string, { trashed }: RepositoryState): void {
  const path = `${gitdir}/${STAMP_FILE}`
  if (fs.readFile(path)?.toString('utf8') === trashed) return
  fs.remove(path)
  if (trashed !== undefined) fs.create(path, Buffer.from(trashed))
}

/** Removes a repository, or what a power cut left of one. Answers whether there was something. */
function remove(copy: Copy, repository: string): boolean {
  const { fs, packs } = copy
  const { live, trashed } = foldersOf(copy, repository)
  const there = [live, trashed].filter((place) => fs.stat(place) !== undefined)
  for (const place of there) {
    packs.drop(place)
    const aside = `${dirname(place)}/${BUILD_PREFIX}${identityName(thisProcess())}.removed-${basename(place)}`
    fs.rename(place, aside)
    fs.removeTree(aside)
  }
  return there.length > 0
}

/** The repositories in the folder, by their paths outside the trash. */
export function repositoriesIn({ fs, dir }: Pick<Copy, 'fs' | 'dir'>): string[] {
  const found: string[] = []
  const lookInto = (project: string, family: string, inTrash: boolean): void => {
    const folder = `${dir}/${project}${inTrash ? `/${TRASH_FOLDER}` : ''}/${family}`
    for (const name of fs.readDir(folder) ?? [])
      if (name.endsWith('.git') && !name.startsWith('.')) found.push(`${project}/${family}/${name}`)
  }
  for (const project of fs.readDir(dir) ?? []) {
    if (project.startsWith('.')) continue
    for (const family of fs.readDir(`${dir}/${project}`) ?? [])
      if (!family.startsWith('.')) lookInto(project, family, false)
    for (const family of fs.readDir(`${dir}/${project}/${TRASH_FOLDER}`) ?? [])
      lookInto(project, family, true)
  }
  return [...new Set(found)]
}
