import { listNotes, listRefs, log, readObject, readTree, resolveRef } from 'isomorphic-git'
import { isomorphicFs, type Repository } from '../../git/store.ts'
import { type ObjectKind, type Oid, firstParent, parseCommit, parseTree } from '../../git/objects.ts'
import { readAllRefs } from '../../git/refs.ts'
import type { Finding } from './finding.ts'
import { damage } from './finding.ts'

/** Rows are on a level of their own. */
const OBJECTS_PER_TREE_LEVEL = 200
/** What every verification samples. */
const SAMPLED_BRANCHES = 5
const SAMPLED_COMMITS = 5
const SAMPLED_OBJECTS_PER_TREE_LEVEL = 10
/** isomorphic-git reads whole packs into memory. */
const MAX_BYTES_OF_SAMPLED_PACKS = 16 * 1024 * 1024
/** Each difference is checked twice. */
const MAX_DIFFERENCES = 20
/** How often refs are compared while a server may be moving them. */
const ATTEMPTS = 5

/**
 * Reads a repository through isomorphic-git, an independent implementation, and compares: every ref, every
 * commit and note reachable from refs, the trees of heads and notes, and a sample below them (all of flat
 * notes). Differences are reported as damage, by ref and object.
 */
export async function compareReaders(
  repository: Pick<Repository, 'fs' | 'path' | 'objects'>,
): Promise<readonly Finding[]> {
  return new Comparison(repository).run()
}

/**
 * Reads a sample of a repository through isomorphic-git and compares: the newest commits of some branches,
 * and some objects on each level of their heads' trees. Skips a repository with large packs.
 */
export async function compareSample(
  repository: Pick<Repository, 'fs' | 'path' | 'objects'>,
): Promise<readonly Finding[]> {
  const folder = `${repository.path}/objects/pack`
  const names = repository.fs.readDir(folder) ?? []
  const size = names.reduce((sum, name) => sum + (repository.fs.stat(`${folder}/${name}`)?.size ?? 0), 0)
  return size > MAX_BYTES_OF_SAMPLED_PACKS ? [] : new Comparison(repository).runSample()
}

/** An object, and the ref it was found by. */
interface Place {
  readonly ref: string
  readonly oid: Oid
}

class Comparison {
  readonly #repository: Pick<Repository, 'fs' | 'path' | 'objects'>
  readonly #seen = new Set<Oid>()
  readonly #findings: Finding[] = []
  /** isomorphic-git caches whole packs, so each repository has its own cache. */
  #git: { readonly fs: ReturnType<typeof isomorphicFs>; readonly gitdir: string; readonly cache: object }

  constructor(repository: Pick<Repository, 'fs' | 'path' | 'objects'>) {
    this.#repository = repository
    this.#git = { fs: isomorphicFs(repository.fs), gitdir: repository.path, cache: {} }
  }

  async run(): Promise<readonly Finding[]> {
    const roots: Place[] = []
    for (const [ref, oid] of await this.#compareRefs()) {
      await this.#compare({ ref, oid })
      await this.#guarded({ ref, oid }, async () => {
        const commits = await log({ ...this.#git, ref: oid })
        for (const commit of commits) await this.#compare({ ref, oid: commit.oid })
        const root = commits[0]?.commit.tree
        if (root !== undefined) roots.push({ ref, oid: root })
        if (!ref.startsWith(NOTES)) return
        for (const { note } of await listNotes({ ...this.#git, ref })) await this.#compare({ ref, oid: note })
      })
    }
    for (const root of roots) await this.#compare(root)
    await this.#compareBelow(roots)
    return this.#findings
  }

  async runSample(): Promise<readonly Finding[]> {
    const { fs, path, objects } = this.#repository
    const branches = [...readAllRefs(fs, path).refs].filter(([ref]) => ref.startsWith('refs/heads/'))
    for (const [ref, head] of sample(branches, branches[0]?.[1] ?? '', SAMPLED_BRANCHES)) {
      let oid: Oid | undefined = head
      for (let number = 0; oid !== undefined && number < SAMPLED_COMMITS; number++) {
        await this.#compare({ ref, oid })
        const commit = await objects.readKind(oid, 'commit')
        if (commit && oid === head) await this.#sampleBelow({ ref, oid: parseCommit(commit).tree })
        oid = commit && firstParent(commit)
      }
    }
    return this.#findings
  }

  async #sampleBelow(root: Place): Promise<void> {
    let trees: readonly Place[] = [root]
    while (trees.length > 0) {
      const level = new Map<Oid, Place & { readonly isTree: boolean }>()
      for (const { ref, oid } of trees) {
        await this.#compare({ ref, oid })
        const tree = await this.#repository.objects.readKind(oid, 'tree')
        for (const entry of tree ? parseTree(tree) : [])
          if (entry.mode !== '160000')
            level.set(entry.oid, { ref, oid: entry.oid, isTree: entry.mode === '40000' })
      }
      const sampled = sample([...level.values()], root.oid, SAMPLED_OBJECTS_PER_TREE_LEVEL)
      for (const place of sampled) await this.#compare(place)
      trees = sampled.filter(({ isTree }) => isTree)
    }
  }

  /** Returns the refs on which both readers agree. */
  async #compareRefs(): Promise<ReadonlyMap<string, Oid>> {
    for (let attempt = 1; ; attempt++) {
      const ours = readAllRefs(this.#repository.fs, this.#repository.path).refs
      const theirs = await this.#theirRefs()
      const names = [...new Set([...ours.keys(), ...theirs.keys()])]
      const differing = names.filter((ref) => ours.get(ref) !== theirs.get(ref))
      if (differing.length > 0 && attempt < ATTEMPTS) continue
      for (const ref of differing)
        this.#differ(`${ref} is ${ours.get(ref) ?? 'absent'} to us and ${theirs.get(ref) ?? 'absent'} to it`)
      return new Map([...ours].filter(([ref, oid]) => theirs.get(ref) === oid))
    }
  }

  async #theirRefs(): Promise<ReadonlyMap<string, string>> {
    const refs = new Map<string, string>()
    for (const name of await listRefs({ ...this.#git, filepath: 'refs' })) {
      // isomorphic-git mistakes a ref's lock for a ref.
      if (name.endsWith('.lock')) continue
      const ref = `refs/${name}`
      refs.set(ref, await resolveRef({ ...this.#git, ref }).catch(reasonOf))
    }
    return refs
  }

  /** Compares level by level below the trees, at most OBJECTS_PER_TREE_LEVEL objects each. */
  async #compareBelow(roots: readonly Place[]): Promise<void> {
    let trees = roots
    while (trees.length > 0) {
      const level = new Map<Oid, Place & { readonly isTree: boolean }>()
      for (const { ref, oid } of trees)
        await this.#guarded({ ref, oid }, async () => {
          for (const { oid: below, type } of (await readTree({ ...this.#git, oid })).tree)
            if (type !== 'commit') level.set(below, { ref, oid: below, isTree: type === 'tree' })
        })
      const sampled = sample([...level.values()], roots[0]?.oid ?? '', OBJECTS_PER_TREE_LEVEL)
      for (const place of sampled) await this.#compare(place)
      trees = sampled.filter(({ isTree }) => isTree)
    }
  }

  /** Rereads a differing object with an empty cache: maintenance may have moved it to another pack. */
  async #compare(place: Place): Promise<void> {
    if (this.#seen.has(place.oid) || this.#findings.length >= MAX_DIFFERENCES) return
    this.#seen.add(place.oid)
    if ((await this.#difference(place.oid)) === undefined) return
    this.#git = { ...this.#git, cache: {} }
    const difference = await this.#difference(place.oid)
    if (difference !== undefined) this.#differ(`object ${place.oid} of ${place.ref} ${difference}`)
  }

  async #difference(oid: Oid): Promise<string | undefined> {
    const theirs = await this.#theirObject(oid)
    const ours = await this.#repository.objects.read(oid)
    if (theirs instanceof Error) return `cannot be read by it: ${theirs.message}`
    if (!ours) return 'is absent to us'
    if (ours.kind !== theirs.kind) return `is a ${ours.kind} to us and a ${theirs.kind} to it`
    return ours.bytes.equals(theirs.bytes) ? undefined : 'has other bytes to us than to it'
  }

  async #theirObject(oid: Oid): Promise<{ readonly kind: ObjectKind; readonly bytes: Uint8Array } | Error> {
    try {
      const { type, object } = await readObject({ ...this.#git, oid, format: 'content' })
      // 'content' returns bytes and a kind, which the declared type leaves open
      return { kind: type as ObjectKind, bytes: object as Uint8Array }
    } catch (error) {
      return error as Error
    }
  }

  /** An error of isomorphic-git is a finding, and does not stop the comparison. */
  async #guarded({ ref, oid }: Place, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#differ(`what ${oid} of ${ref} leads to cannot be read by it: ${reasonOf(error)}`)
    }
  }

  #differ(what: string): void {
    if (this.#findings.length < MAX_DIFFERENCES)
      this.#findings.push(damage(`The second reader (isomorphic-git) differs: ${what}. ${REMEDY}`))
  }
}

const NOTES = 'refs/notes/'
const REMEDY = 'Run git fsck there, and restore what it names from a mirror.'

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Systematic sampling: every n-th item from a start that the seed (an object id) determines, so that a second
 * run reads the same items.
 */
function sample<T>(all: readonly T[], seed: Oid, most: number): readonly T[] {
  if (all.length <= most) return all
  const start = parseInt(seed.slice(0, 8), 16) / 2 ** 32
  const chosen = new Set(
    Array.from({ length: most }, (_, index) => Math.floor(((index + start) * all.length) / most)),
  )
  return all.filter((_, index) => chosen.has(index))
}
