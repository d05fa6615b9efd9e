import { dirname } from 'node:path'
import { Refusal } from '../../errors.ts'
import { BARE_CONFIG } from '../../git/store.ts'
import { copyRepository, fetchObjects, GitFailure, gitCommand } from '../../git/program.ts'
import { type AllRefs, isSameRefs, readAllRefs, replaceRefs } from '../../git/refs.ts'
import { nodeFs } from '../../storage/files.ts'
import { META_REF } from '../../registry/artifacts.ts'
import type { KeptRef } from './kept-refs.ts'
import { lostRefs, withoutKept } from './kept-refs.ts'
import { pathOfName } from './repository-name.ts'
import type { SourceRepository } from './ends/source.ts'

export interface BackedUp {
  readonly change: 'new' | 'changed' | 'none'
  /** Refs that the store no longer has, kept in the backup. */
  readonly kept: readonly KeptRef[]
}

/** A run of the backup. `time` is when it began, in a form that fits into ref names. */
export interface BackupRun {
  readonly dir: string
  readonly time: string
  readonly signal: AbortSignal
}

/**
 * Creates or updates the mirror of a repository. If the refs are equal, git is not run. A crash leaves the mirror complete, in its old or new
 * state.
 */
export async function backUpRepository(repository: SourceRepository, run: BackupRun): Promise<BackedUp> {
  const refs = withoutKept(await repository.refs())
  try {
    return await bringUp(repository, refs, run)
  } catch (error) {
    // Since the refs were read, history may have been rewritten and a gc may have removed objects.
    if (!(error instanceof GitFailure)) throw error
    const again = withoutKept(await repository.refs())
    if (isSameRefs(refs, again)) throw error
    return bringUp(repository, again, run)
  }
}

async function bringUp(repository: SourceRepository, refs: AllRefs, run: BackupRun): Promise<BackedUp> {
  const { dir, time, signal } = run
  const { objects: source } = repository
  assertOwnFolders(dir, repository)
  const mirror = `${dir}/${pathOfName(repository)}`
  if (!nodeFs.stat(mirror)) {
    await makeFolder(dirname(mirror))
    await copyRepository(nodeFs, dirname(mirror), `${repository.slug}.git`, { refs, source, signal })
    await nodeFs.createSynced(`${mirror}/${MARK}`, Buffer.from('Made by branchpoint backup.\n'))
    return { change: 'new', kept: [] }
  }
  const all = readAllRefs(nodeFs, mirror)
  assertOwnMirror(mirror, all)
  const before = withoutKept(all)
  if (isSameRefs(before, refs)) return { change: 'none', kept: [] }
  await fetchObjects(nodeFs, mirror, source, refs.refs.values(), signal)
  const kept = await lostRefs(mirror, before, refs, time, signal)
  const keptBefore = [...all.refs].filter(([name]) => !before.refs.has(name))
  const keptNow = kept.map(({ keptAt, oid }) => [keptAt, oid] as const)
  await replaceRefs(nodeFs, mirror, {
    refs: new Map([...refs.refs, ...keptBefore, ...keptNow]),
    head: refs.head,
  })
  await rollUpPacks(mirror, signal)
  return { change: 'changed', kept }
}

/** Refuses symbolic links, which may lead out of the backup. */
function assertOwnFolders(dir: string, { project, family, slug }: SourceRepository): void {
  for (const path of [project, `${project}/${family}`, `${project}/${family}/${slug}.git`]) {
    const kind = nodeFs.stat(`${dir}/${path}`)?.kind ?? 'folder'
    if (kind !== 'folder') throw notOurs(`${dir}/${path}`, 'it is no folder')
  }
}

/** Marks a mirror as made by a backup; mirrors of earlier versions have no mark. */
const MARK = 'branchpoint-mirror'

/**
 * Checks that a mirror was made by a backup: it has the mark, or, if made by an earlier version, the standard config and an artifact's
 * record.
 */
function assertOwnMirror(mirror: string, { refs }: AllRefs): void {
  if (nodeFs.stat(`${mirror}/${MARK}`)) return
  const config = nodeFs.readFile(`${mirror}/config`)?.toString('utf8')
  if (config !== BARE_CONFIG) throw notOurs(mirror, 'its config is not the one that a mirror is made with')
  if (!refs.has(META_REF)) throw notOurs(mirror, `it has no ${META_REF}`)
}

function notOurs(path: string, why: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `${path} was not made by a backup (${why}), so nothing is written there. Move it away; the next run makes a new mirror.`,
  )
}

/** Each run adds a pack; past this number git joins them. */
const MAX_PACKS = 20

async function rollUpPacks(mirror: string, signal: AbortSignal): Promise<void> {
  const packs = (nodeFs.readDir(`${mirror}/objects/pack`) ?? []).filter((name) => name.endsWith('.pack'))
  if (packs.length <= MAX_PACKS) return
  const config = { 'core.fsync': 'all', 'repack.updateServerInfo': 'false' }
  await gitCommand(['repack', '-d', '--quiet', '--geometric=2'], { gitdir: mirror, config, signal })
}

async function makeFolder(folder: string): Promise<void> {
  if (nodeFs.stat(folder)) return
  nodeFs.makeDir(folder)
  for (const path of [dirname(folder), dirname(dirname(folder))]) await nodeFs.syncDir(path)
}
