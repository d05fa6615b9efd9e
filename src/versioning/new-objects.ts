import type { GitObject, ObjectKind, Oid } from '../git/object.ts'
import { hashObject } from '../git/object.ts'
import type { StagedPack } from '../git/stage-pack.ts'
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

  readonly packs: StagedPack[] = []

  adopt(pack: StagedPack): void {
    this.packs.push(pack)
  }

  all(): (GitObject & { readonly oid: Oid })[] {
    return [...this.#objects.values()]
  }
}
