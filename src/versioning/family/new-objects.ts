import type { GitObject, ObjectKind, Oid } from '../../git/objects/object.ts'
import { hashObject } from '../../git/objects/object.ts'
import type { CacheFile } from '../../storage/cache-file.ts'
import type { NewFolder } from '../../git/project-store.ts'
import type { StagedPack } from '../../git/transactions/pack-staging.ts'
import type { PayloadTarget } from './family.ts'

/** The objects of a repository that does not exist yet. */
export class NewObjects implements PayloadTarget {
  readonly #objects = new Map<Oid, GitObject & { readonly oid: Oid }>()

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.#objects.set(oid, { oid, kind, bytes })
    return oid
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.#objects.get(oid)
  }

  readonly artifactId: string
  readonly packs: StagedPack[] = []
  readonly derived?: (name: string) => CacheFile

  /** `folder` is where the repository is being prepared, if it is. */
  constructor(artifactId: string, folder?: NewFolder) {
    this.artifactId = artifactId
    if (folder) this.derived = (name) => folder.derived(name)
  }

  adopt(pack: StagedPack): void {
    this.packs.push(pack)
  }

  async readMany(oids: readonly Oid[]): Promise<(GitObject | undefined)[]> {
    return oids.map((oid) => this.#objects.get(oid))
  }

  async startingWith(): Promise<readonly Oid[]> {
    return []
  }

  tips(): readonly Oid[] {
    return []
  }

  all(): (GitObject & { readonly oid: Oid })[] {
    return [...this.#objects.values()]
  }
}
