import type { GitObject, ObjectKind, Oid } from '../../git/objects/object.ts'
import { hashObject } from '../../git/objects/object.ts'
import type { PayloadTarget } from '../family/family.ts'

/** Objects that are written nowhere, over those that there are: what becomes of merge bases, and of a merge that is only tried. */
export class ScratchObjects implements PayloadTarget {
  readonly artifactId: string
  readonly #below: PayloadTarget
  readonly #objects = new Map<Oid, GitObject>()

  constructor(below: PayloadTarget) {
    this.artifactId = below.artifactId
    this.#below = below
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.#objects.set(oid, { kind, bytes })
    return oid
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.#objects.get(oid) ?? this.#below.read(oid)
  }

  readMany: PayloadTarget['readMany'] = async (oids, ...more) => {
    if (!oids.some((oid) => this.#objects.has(oid))) return this.#below.readMany(oids, ...more)
    return Promise.all(oids.map((oid) => this.read(oid)))
  }

  startingWith: PayloadTarget['startingWith'] = (prefix) => this.#below.startingWith(prefix)

  tips: PayloadTarget['tips'] = () => this.#below.tips()

  adopt(): void {
    throw new Error('what a merge writes is no pack')
  }

  /** Where these objects can be read, and others are written below. */
  get writingBelow(): PayloadTarget {
    const below = this.#below
    return {
      artifactId: this.artifactId,
      write: (kind, bytes) => below.write(kind, bytes),
      read: (oid) => this.read(oid),
      readMany: this.readMany,
      startingWith: this.startingWith,
      tips: this.tips,
      adopt: (pack) => below.adopt(pack),
    }
  }
}
