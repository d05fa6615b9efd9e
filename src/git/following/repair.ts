import { basename, dirname } from 'node:path/posix'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { BUILD_PREFIX, buildFolder, layOut } from '../create-repository.ts'
import { identityName, thisProcess } from '../../storage/process-identity.ts'
import { readAllRefs } from '../refs/list-refs.ts'
import { STAMP_FILE, TRASH_FOLDER } from '../trash/folder-move.ts'
import { type Copy, placeOf, foldersOf } from './copy.ts'
import { placePack } from './place-pack.ts'
import { setRefs } from './set-refs.ts'
import type { RepositoryState } from './shared-log.ts'

/** What became of the repositories of a folder. */
export interface Repaired {
  /** The versions they are of now. */
  readonly versions: ReadonlyMap<string, number>
  /** Those that were not as the log has them. */
  readonly changed: ReadonlySet<string>
}

/**
 * Has the folder hold what the log has now, whatever its refs are: for a new folder, one that is ahead of the database
 * after a failover, one that is too far behind. Only repositories are looked at; with `only`, only these.
 */
export async function repair(copy: Copy, only?: readonly string[]): Promise<Repaired> {
  const states = await copy.log.states(only)
  const changed = new Set<string>()
  for (const repository of only ?? repositoriesIn(copy)) {
    if (states.has(repository)) continue
    if (remove(copy, repository)) changed.add(repository)
  }
  const slice = new TimeSlice()
  for (const [repository, state] of states) {
    if (await repairOne(copy, repository, state)) changed.add(repository)
    if (slice.isOver) await slice.rest()
  }
  return { versions: new Map([...states].map(([repository, { version }]) => [repository, version])), changed }
}

/**
 * Takes every repository out of a folder whose machine may have lost power: nothing of a copy is synced, so a pack may be torn while every
 * ref is what it should be. What follows fills it.
 */
export function emptyFolder(copy: Copy): void {
  for (const repository of repositoriesIn(copy)) remove(copy, repository)
}

/** Whether there was something to do. */
async function repairOne(copy: Copy, repository: string, state: RepositoryState): Promise<boolean> {
  const { fs, packs } = copy
  const { live, trashed } = foldersOf(copy, repository)
  const wanted = state.trashed === undefined ? live : trashed
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
  for (const name of packs) await placePack(copy.fs, copy.log, { gitdir, repository }, { name })
  await setRefs(copy, [{ gitdir, repository, version, moves }])
  return true
}

async function build(copy: Copy, repository: string, state: RepositoryState, gitdir: string): Promise<void> {
  const { fs, log } = copy
  fs.makeDir(dirname(gitdir))
  const aside = buildFolder(fs, dirname(gitdir))
  try {
    layOut(fs, aside, state.refs, state.head)
    for (const name of state.packs) await placePack(fs, log, { gitdir: aside, repository }, { name })
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

/** Whether it was there. */
function remove(copy: Copy, repository: string): boolean {
  const { fs, packs } = copy
  const found = placeOf(copy, repository)
  if (found === undefined) return false
  packs.drop(found)
  const aside = `${dirname(found)}/${BUILD_PREFIX}${identityName(thisProcess())}.removed-${basename(found)}`
  fs.rename(found, aside)
  fs.removeTree(aside)
  return true
}

/** The repositories in the folder, by where they are when they are not in the trash. */
function repositoriesIn({ fs, dir }: Copy): string[] {
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
